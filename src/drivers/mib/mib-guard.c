/* SPDX-License-Identifier: BSD-3-Clause */
/* mib-guard.c - may we write there, and is there room? */
#include "config.h"
#include "drivers/mib/mib.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/vfs.h>

#include "par/agree.h"

enum use {
    FINE,  /* made for this */
    LOCAL, /* of one node: tasks on another one do not see the files of their peers */
    NEVER  /* the server of home directories, memory, or no place for data */
};

/* File systems by the numbers of statfs(2); those that are not here may be used. */
static const struct {
    unsigned long type;
    const char *name;
    enum use use;
} known[] = {
    { 0x0BD00BD0, "S_MAGIC_LUSTRE", FINE },     { 0xADF5, "ADFS_SUPER_MAGIC", LOCAL },
    { 0xADFF, "AFFS_SUPER_MAGIC", LOCAL },      { 0x42465331, "BEFS_SUPER_MAGIC", LOCAL },
    { 0x1BADFACE, "BFS_MAGIC", LOCAL },         { 0xFF534D42, "CIFS_MAGIC_NUMBER", NEVER },
    { 0x73757245, "CODA_SUPER_MAGIC", NEVER },  { 0x012FF7B7, "COH_SUPER_MAGIC", LOCAL },
    { 0x28CD3D45, "CRAMFS_MAGIC", NEVER },      { 0x1373, "DEVFS_SUPER_MAGIC", NEVER },
    { 0x00414A53, "EFS_SUPER_MAGIC", LOCAL },   { 0x137D, "EXT_SUPER_MAGIC", LOCAL },
    { 0xEF51, "EXT2_OLD_SUPER_MAGIC", LOCAL },  { 0xEF53, "EXT2_SUPER_MAGIC", LOCAL },
    { 0x4244, "HFS_SUPER_MAGIC", LOCAL },       { 0xF995E849, "HPFS_SUPER_MAGIC", LOCAL },
    { 0x958458F6, "HUGETLBFS_MAGIC", NEVER },   { 0x9660, "ISOFS_SUPER_MAGIC", NEVER },
    { 0x72B6, "JFFS2_SUPER_MAGIC", LOCAL },     { 0x3153464A, "JFS_SUPER_MAGIC", LOCAL },
    { 0x137F, "MINIX_SUPER_MAGIC", LOCAL },     { 0x138F, "MINIX_SUPER_MAGIC2", LOCAL },
    { 0x2468, "MINIX2_SUPER_MAGIC", LOCAL },    { 0x2478, "MINIX2_SUPER_MAGIC2", LOCAL },
    { 0x4D44, "MSDOS_SUPER_MAGIC", LOCAL },     { 0x564C, "NCP_SUPER_MAGIC", NEVER },
    { 0x6969, "NFS_SUPER_MAGIC", NEVER },       { 0x5346544E, "NTFS_SB_MAGIC", LOCAL },
    { 0x9FA1, "OPENPROM_SUPER_MAGIC", NEVER },  { 0x9FA0, "PROC_SUPER_MAGIC", NEVER },
    { 0x002F, "QNX4_SUPER_MAGIC", LOCAL },      { 0x52654973, "REISERFS_SUPER_MAGIC", LOCAL },
    { 0x7275, "ROMFS_MAGIC", NEVER },           { 0x517B, "SMB_SUPER_MAGIC", NEVER },
    { 0x012FF7B6, "SYSV2_SUPER_MAGIC", LOCAL }, { 0x012FF7B5, "SYSV4_SUPER_MAGIC", LOCAL },
    { 0x01021994, "TMPFS_MAGIC", NEVER },       { 0x15013346, "UDF_SUPER_MAGIC", LOCAL },
    { 0x00011954, "UFS_MAGIC", LOCAL },         { 0x9FA2, "USBDEVICE_SUPER_MAGIC", NEVER },
    { 0xA501FCF5, "VXFS_SUPER_MAGIC", LOCAL },  { 0x012FF7B4, "XENIX_SUPER_MAGIC", LOCAL },
    { 0x58465342, "XFS_SUPER_MAGIC", LOCAL },   { 0x012FD16D, "XIAFS_SUPER_MAGIC", LOCAL },
};

int mib_guard(struct mib_test *t, int nodes, struct weir_err *err)
{
    enum use use = FINE;
    struct statfs s;

    if (statfs(t->o->test_dir, &s) < 0)
        return weir_refuse(err, WEIR_EUSAGE, "Could not statfs \"%s\" (%d): %s", t->o->test_dir,
                           errno, strerror(errno));
    t->fs = (struct mib_file_system) { .type = (unsigned long)s.f_type & 0xFFFFFFFF };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].type == t->fs.type) {
            t->fs.name = known[i].name;
            use = known[i].use;
        }
    if (t->o->force || use == FINE || (use == LOCAL && nodes == 1))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "Mib will not write to a file system of type \"%s\" (f_type = %#lx) unless "
                       "you use the \"-F\" (--force) option",
                       t->fs.name, t->fs.type);
}

/* Bytes that calls may add to a file that is as long as this. */
static uint64_t growth(const struct mib_test *t, uint64_t calls, uint64_t there)
{
    uint64_t bytes = (uint64_t)t->o->call_size * calls;

    return bytes > there ? bytes - there : 0;
}

int mib_space_check(struct weir_run *run, struct mib_test *t, struct weir_err *err)
{
    uint64_t there = 0, need[2];
    struct weir_fs_usage u = { 0 };
    bool known_size = false;
    int rc = 0;

    if (weir_session_exists(&t->session, weir_str_text(&t->own), &known_size, NULL) == 0 &&
        known_size && weir_session_size(&t->session, weir_str_text(&t->own), &there, NULL) < 0)
        there = 0;
    need[0] = growth(t, 1, there);
    need[1] = growth(t, (uint64_t)t->o->call_limit, there);
    weir_allsum_u64(&run->par, need, 2);
    if (run->par.rank == 0 &&
        weir_session_usage(&t->session, weir_str_text(&t->own), &u, NULL) == 0 &&
        u.total_bytes > 1) {
        if (need[0] > u.avail_bytes)
            rc = weir_refuse(err, WEIR_ESETUP,
                             "one call of each task needs %" PRIu64 " bytes in '%s', and %" PRIu64
                             " are free",
                             need[0], t->o->test_dir, u.avail_bytes);
        else if (need[1] > u.avail_bytes)
            rc = weir_warn(&run->log, err,
                           "the call limit allows %" PRIu64 " bytes in '%s', and %" PRIu64
                           " are free; the time limit may come first",
                           need[1], t->o->test_dir, u.avail_bytes);
    }
    return weir_agree(&run->par, rc, err);
}
