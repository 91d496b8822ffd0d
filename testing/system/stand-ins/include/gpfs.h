/* SPDX-License-Identifier: BSD-3-Clause */
/* gpfs.h - stand-in for the part of GPFS's interface that weir uses; see stand-ins.c */
#ifndef STAND_IN_GPFS_H
#define STAND_IN_GPFS_H

typedef int gpfs_file_t;

int gpfs_fcntl(gpfs_file_t fd, void *hints);

#endif
