/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.c - parallel HDF5: one dataset for each segment of the file */
#include "backends/hdf5/hdf5-file.h"

#include <unistd.h>

#include "backends/shared/mpins.h"
#include "backends/shared/mpishow.h"
#include "base/text/wholefile.h"
#include "par/io/mpifile.h"

#ifdef H5_HAVE_SUBFILING_VFD
#define SUBFILING true
#else
#define SUBFILING false
#endif

struct hdf5_file {
    struct weir_file base;
    struct hdf5_container c;
    int sync_fd;   /* -Y without -c: H5Fflush would wait for the other ranks. -1: none */
    struct hdf5_segments seg;
};

static const char *version(void)
{
    return HDF5_VERSION " (Parallel)";
}

static int check_geometry(const struct weir_session *s, const struct weir_extent *x,
                          struct weir_err *err)
{
    const struct hdf5_options *o = s->opt;
    uint64_t elements = weir_segment_bytes(&s->access, x) / HDF5_ELEMENT;

    if (x->transfer % HDF5_ELEMENT || x->block % HDF5_ELEMENT)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "HDF5 stores elements of 8 bytes: transfer size %llu and block size %llu must be "
            "multiples of 8",
            (unsigned long long)x->transfer, (unsigned long long)x->block);
    if ((uint64_t)o->chunk > elements)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--hdf5.chunkSize=%lld: a dataset of this test has only %llu elements",
                           (long long)o->chunk, (unsigned long long)elements);
    return 0;
}

/* The library stores a chunk with filters as a whole. */
static int check_filter(const struct weir_session *s, const struct weir_extent *x,
                        struct weir_err *err)
{
    const struct hdf5_options *o = s->opt;
    const struct weir_access *a = &s->access;
    uint64_t elements = o->chunk > 0 ? (uint64_t)o->chunk : x ? x->transfer / HDF5_ELEMENT : 0;

    if (a->only_reads)
        elements = 0; /* the file has its chunks */

    if (!a->file_per_task && s->par->size > 1 && !a->collective && !a->only_reads)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--hdf5.filter: HDF5 writes chunks with filters collectively only; add -c "
                           "or -F (ior), or leave --indepio out (h5exerciser)");
    return hdf5_filters_check(o->filter, elements, true, err);
}

/* Options that need HDF5 1.14, and filters. */
static int check_layout(const struct weir_session *s, const struct weir_extent *extent,
                        struct weir_err *err)
{
    const struct hdf5_options *o = s->opt;

    if (o->page_buffer > 0 &&
        (!H5_VERSION_GE(1, 14, 0) || !s->access.file_per_task || o->subfiling))
        return weir_refuse(err, WEIR_EUSAGE,
                           "--hdf5.page-buffer: parallel HDF5 has it from 1.14 on (this is %s), for a "
                           "file per task (-F) without --hdf5.subfiling", HDF5_VERSION);
    if (o->subfiling && !SUBFILING)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--hdf5.subfiling: HDF5 has it from 1.14 on, where it is configured; this "
                           "is %s", HDF5_VERSION);
    return o->filter ? check_filter(s, extent, err) : 0;
}

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    const struct hdf5_options *o = s->opt;

    if (o->individual)
        return weir_refuse(
            err, WEIR_EUSAGE,
            "individual data sets not implemented; leave --hdf5.individualDataSets out");
    if (s->access.random)
        return weir_refuse(err, WEIR_EUSAGE, "random offset not available with HDF5; leave -z out");
    if (o->chunk > (int64_t)(CHUNK_BYTES_MAX / HDF5_ELEMENT))
        return weir_refuse(err, WEIR_EUSAGE,
                           "--hdf5.chunkSize=%lld: HDF5 allows at most %u elements of 8 bytes",
                           (long long)o->chunk, CHUNK_BYTES_MAX / HDF5_ELEMENT);
    if (check_layout(s, extent, err) < 0)
        return -1;
    return extent ? check_geometry(s, extent, err) : 0;
}

static int end(struct weir_session *s, struct weir_err *err)
{
    hdf5_state_end(s->priv);
    return 0;
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    int rc = hdf5_state_begin(s, err);

    if (rc < 0)
        hdf5_state_end(s->priv);
    return rc;
}

/* Free what is ours. */
static void release(struct hdf5_file *f)
{
    hdf5_segments_end(&f->seg);
    if (f->sync_fd >= 0)
        close(f->sync_fd);
    f->sync_fd = -1;
}

static int open_file(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_file *file, struct weir_err *err)
{
    struct hdf5_file *f = (struct hdf5_file *)file;
    const struct weir_access *a = &s->access;
    int rc;

    f->sync_fd = -1;
    if (hdf5_container_open(&f->c, s->priv, path, flags, &f->base.extent, err) < 0)
        return -1;
    rc = hdf5_segments_open(&f->seg, &f->c, &f->base, err);
    if (rc == 0 && f->c.writes && a->sync_each && !a->collective && !a->file_per_task) {
        f->sync_fd = weir_mpi_open_to_sync(path, err); /* a sync of a write is this rank's alone */
        rc = f->sync_fd < 0 ? -1 : 0;
    }
    rc = weir_agree_open(s->par, f->c.st->comm, rc, err);
    if (rc < 0) {
        release(f);
        hdf5_container_drop(&f->c);
    }
    return rc;
}

static int close_file(struct weir_file *file, struct weir_err *err)
{
    struct hdf5_file *f = (struct hdf5_file *)file;
    struct hdf5_state *st = file->s->priv;
    uint64_t align = (uint64_t)((const struct hdf5_options *)file->s->opt)->alignment;

    if (align > 1 && f->seg.set.where > 0 && f->seg.bytes >= align) {
        /* the last dataset; the library aligns none that is smaller */
        st->placed = true;
        st->misplaced |= f->seg.set.where % align != 0;
    }
    release(f);
    return hdf5_container_close(&f->c, err);
}

static ssize_t xfer(struct weir_file *file, const struct weir_io *io, struct weir_err *err)
{
    return hdf5_segments_xfer(&((struct hdf5_file *)file)->seg, io, err);
}

static int sync_file(struct weir_file *file, struct weir_err *err)
{
    struct hdf5_file *f = (struct hdf5_file *)file;
    int rc;

    if (f->c.st->mpi.remove) /* subfiles */
        return weir_refuse(err, WEIR_EUSAGE, "HDF5 cannot sync subfiles; leave -e and -Y out");
    if (f->sync_fd < 0)
        return hdf5_container_flush(&f->c, err);
    rc = weir_fsync(f->sync_fd, f->base.path, err);
    f->c.failed |= rc < 0;
    return rc;
}

static void describe(struct weir_file *file, struct weir_str *out)
{
    hdf5_container_describe(&((struct hdf5_file *)file)->c, out);
}

static void list_hints(struct weir_file *file, struct weir_str *out)
{
    const struct hdf5_container *c = &((struct hdf5_file *)file)->c;

    weir_mpi_list_hints(hdf5_container_hints(c), out);
}

/* The library keeps in the list of a transfer what it did last. Files are closed when we look after
 * a phase. */
static void find_applied(struct weir_session *s, struct weir_file *f, struct weir_applied *out)
{
    H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
    const struct hdf5_state *st = s->priv;
    uint32_t here = 0, anywhere = 0;

    if (!f && st->placed)
        out->other_layout = st->misplaced;
    if (f) {
        weir_mpi_judge_hints(s, hdf5_container_hints(&((struct hdf5_file *)f)->c), out);
    } else if (H5Pget_mpio_actual_io_mode(st->transfer, &mode) >= 0 &&
               H5Pget_mpio_no_collective_cause(st->transfer, &here, &anywhere) >= 0) {
        if (mode != H5D_MPIO_NO_COLLECTIVE)
            out->independent = 0;
        else if (here || anywhere)
            out->independent = 1;
    }
}

const struct weir_backend weir_plugin = {
    HDF5_DESCRIPTOR,
    .flags = WEIR_BE_COLLECTIVE_OPEN | WEIR_BE_COLLECTIVE_XFER | WEIR_BE_COLLECTIVE_META |
             WEIR_BE_NEEDS_MPI | WEIR_BE_NO_RANDOM | WEIR_BE_CONTAINER,
    .priv_size = sizeof(struct hdf5_state),
    .file_size = sizeof(struct hdf5_file),
    .version = version,
    .check = check,
    .begin = begin,
    .end = end,
    .open = open_file,
    .close = close_file,
    .xfer = xfer,
    .sync = sync_file,
    .ns = &weir_mpi_ns,
    .array = &hdf5_array_ops,
    .describe = describe,
    .hints = list_hints,
    .applied = find_applied,
};
