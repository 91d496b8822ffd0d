/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-fstype.h - kinds of file systems, by the numbers of statfs(2) */
#ifndef WEIR_PROGRAMS_MIB_MIB_FSTYPE_H
#define WEIR_PROGRAMS_MIB_MIB_FSTYPE_H

enum weir_fs_kind {
    WEIR_FS_PARALLEL, /* made for many tasks that write; also those that are not in the table */
    WEIR_FS_LOCAL,    /* of one node: tasks on another one do not see its files */
    WEIR_FS_OTHER     /* a file server (NFS and the like), memory, or not for data */
};

struct weir_fs_type {
    unsigned long number; /* f_type of statfs(2) */
    const char *name;     /* as statfs(2) has it; NULL: not in the table */
    enum weir_fs_kind kind;
};

/* What a number stands for. Local. */
struct weir_fs_type weir_fs_type_of(unsigned long number);

#endif
