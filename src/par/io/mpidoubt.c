/* SPDX-License-Identifier: BSD-3-Clause */
/* mpidoubt.c - calls that report success and leave an errno: what can be found out about them */
#include "par/io/mpidoubt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "par/io/mpifile.h"

#define PAGE 4096u  /* holes in a file are at least this long */
#define PIECE 8192u /* bytes that are read at a time: whole elements where these are swapped */

int weir_mpi_hidden_errno(const struct weir_mpi_session *m, int sys)
{
    return sys != 0 && sys != m->comm_errno && weir_mpi_is_io_errno(sys) ? sys : 0;
}

int weir_mpi_refuse_hidden(struct weir_err *err, int sys, const char *call, const char *fmt, ...)
{
    struct weir_str words = { 0 };
    va_list ap;

    va_start(ap, fmt);
    weir_str_vaddf(&words, fmt, ap);
    va_end(ap);
    weir_refuse(err, WEIR_EIO, "%s: %s, but the library reports success: %s", call, strerror(sys),
                weir_str_words(&words));
    if (err)
        err->sys = sys;
    weir_str_free(&words);
    return -1;
}

int weir_mpi_judge_hidden(const struct weir_mpi_session *m, int sys, const char *call,
                          struct weir_err *err)
{
    if (weir_mpi_hidden_errno(m, sys) == 0)
        return 0;
    return weir_mpi_refuse_hidden(err, sys, call, "it is not known which data were moved");
}

void weir_mpi_doubt_found(struct weir_mpi_doubt *d, int sys, const char *call)
{
    if (d->calls++ == 0) {
        d->sys = sys;
        d->call = call;
    }
}

static void swap_bytes(unsigned char *row, size_t len, size_t elem)
{
    for (size_t at = 0; at + elem <= len; at += elem)
        for (size_t i = 0; i < elem / 2; i++) {
            unsigned char other = row[at + i];

            row[at + i] = row[at + elem - 1 - i];
            row[at + elem - 1 - i] = other;
        }
}

size_t weir_mpi_matching(int fd, const unsigned char *buf, size_t len, uint64_t off, size_t swap)
{
    unsigned char there[PIECE];
    size_t done = 0;

    while (done < len) {
        size_t n = len - done < PIECE ? len - done : PIECE;
        ssize_t got = pread(fd, there, n, (off_t)(off + done));

        if (got < 0 && errno == EINTR)
            continue;
        got -= got > 0 ? got % (ssize_t)swap : 0;
        if (got > 0)
            swap_bytes(there, (size_t)got, swap);
        if (got <= 0 || memcmp(there, buf + done, (size_t)got) != 0)
            break;
        done += (size_t)got;
    }
    return done;
}

void weir_mpi_mark(void *buf, size_t len)
{
    unsigned char *bytes = buf;

    if (len > 0) {
        bytes[0] = (unsigned char)~bytes[0];
        bytes[len - 1] = (unsigned char)~bytes[len - 1];
    }
}

int weir_mpi_doubt_scan(struct weir_mpi_doubt *d, const char *path, int sys, const char *call,
                        const void *buf, size_t len, uint64_t off, struct weir_err *err)
{
    int fd = open(weir_mpi_path(path), O_RDONLY | O_CLOEXEC);
    size_t same = fd < 0 ? 0 : weir_mpi_matching(fd, buf, len, off, 1);

    if (fd >= 0)
        close(fd);
    if (same < len)
        return weir_mpi_refuse_hidden(err, sys, call,
                                      "the file has other data from byte %llu on",
                                      (unsigned long long)(off + same));
    weir_mpi_doubt_found(d, sys, call);
    return 0;
}

void weir_mpi_doubt_keep(struct weir_mpi_doubt *d, int sys, const char *call, uint64_t lo,
                         uint64_t hi)
{
    weir_mpi_doubt_found(d, sys, call);
    if (d->open++ == 0 || lo < d->lo)
        d->lo = lo;
    if (hi > d->hi)
        d->hi = hi;
}

/* Check that every page from lo to hi was written. */
static int find_hole(const struct weir_mpi_doubt *d, int fd, uint64_t hi, struct weir_err *err)
{
    struct stat st;
    off_t hole;

    if (fd < 0 || fstat(fd, &st) < 0)
        return weir_mpi_refuse_hidden(err, d->sys, d->call,
                                      "the file cannot be opened to read the data back");
    hole = lseek(fd, (off_t)d->lo, SEEK_HOLE);
    if (hole >= 0 && (uint64_t)hole < hi)
        return weir_mpi_refuse_hidden(err, d->sys, d->call, "nothing was written at byte %lld",
                                      (long long)hole);
    if (hole < 0 || (uint64_t)st.st_blocks * 512 < hi - d->lo)
        return weir_mpi_refuse_hidden(err, d->sys, d->call,
                                      "the file system does not report what was written");
    return 0;
}

int weir_mpi_doubt_conclude(struct weir_mpi_doubt *d, const char *path, bool fresh, uint64_t piece,
                            uint64_t end, struct weir_err *err)
{
    bool aligned = piece >= 2 * PAGE || (piece % PAGE == 0 && d->lo % PAGE == 0);
    uint64_t hi = d->hi < end ? d->hi : end;
    int rc = 0;
    int fd;

    if (d->open == 0 || end == UINT64_MAX || (d->hi != UINT64_MAX && hi <= d->lo))
        return 0;
    if (d->hi == UINT64_MAX || !fresh || !aligned)
        return weir_mpi_refuse_hidden(err, d->sys, d->call,
                                      "it is not known whether all data were written");
    if (weir_mpi_sync_file(path, err) < 0)
        return -1;
    fd = open(weir_mpi_path(path), O_RDONLY | O_CLOEXEC);
    rc = find_hole(d, fd, hi, err);
    if (fd >= 0)
        close(fd);
    d->open = 0;
    return rc;
}

/* Warn of calls that were sound. */
static int warn(const struct weir_mpi_doubt *d, const struct weir_log *log, const char *path,
                struct weir_err *err)
{
    struct weir_log here = *log; /* speaks for any rank */

    here.rank = 0;
    return weir_warn(
        &here, err,
        "rank %d: %s left errno %d (%s) in %llu calls on '%s' that the library reports "
        "as success: the bytes were read back, and are in the file",
        log->rank, d->call, d->sys, strerror(d->sys), (unsigned long long)d->calls, path);
}

int weir_mpi_doubt_close(const struct weir_mpi_doubt *d, struct weir_mpi_session *m, int sys,
                         const char *call, const struct weir_log *log, const char *path,
                         struct weir_err *err)
{
    if ((sys == EIO || sys == ENOSPC || sys == EDQUOT) && sys != m->comm_errno) {
        weir_mpi_refuse_hidden(err, sys, call, "there is no other way to find lost data");
        return weir_err_within(err, "'%s'", path);
    }
    if (!d || d->calls == 0 || m->warned)
        return 0;
    m->warned = true;
    return warn(d, log, path, err);
}
