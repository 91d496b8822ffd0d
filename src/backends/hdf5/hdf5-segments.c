/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-segments.c - the datasets of a file: one for each segment */
#include "backends/hdf5/hdf5-file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/session/complete.h"
#include "par/io/mpifile.h"

#define NAME_TEXT 64
#define KEPT_MAX 1024 /* datasets that stay open after they were made */
#define BATCH 64
#define CALL_MAX ((size_t)1 << 30)    /* HDF5 1.10 refuses independent calls beyond 2^31 bytes */
#define PIECE ((uint64_t)1 << 21) /* elements of fill values at a time: 16 MiB */

/* The first number would be the task if tasks had datasets of their own. */
static void name_of(uint64_t segment, char name[NAME_TEXT])
{
    if (snprintf(name, NAME_TEXT, "Dataset-0000.%04" PRIu64, segment) >= NAME_TEXT)
        name[NAME_TEXT - 1] = '\0';
}

/* The geometry of the file, and dataspaces. */
static int begin(struct hdf5_segments *g, const struct weir_file *file, struct weir_err *err)
{
    const struct hdf5_options *o = file->s->opt;
    const struct weir_extent *x = &file->extent;
    hsize_t elements, transfer;

    g->set = (struct hdf5_set)HDF5_NO_SET;
    g->set.type = H5T_NATIVE_INT64;
    g->count = x->segments;
    g->bytes = weir_segment_bytes(&file->s->access, x);
    g->transfer = x->transfer / HDF5_ELEMENT;
    g->picked = g->transfer;
    elements = g->bytes / HDF5_ELEMENT;
    transfer = g->transfer;
    g->set.in_file = H5Screate_simple(1, &elements, NULL);
    g->set.in_memory = H5Screate_simple(1, &transfer, NULL);
    if (g->set.in_file < 0 || g->set.in_memory < 0)
        return hdf5_fail(err, "H5Screate_simple for '%s'", g->c->path);
    if (g->c->writes && o->filter && o->chunk == 0 && transfer > 0 &&
        H5Pset_chunk(g->c->st->create, 1, &transfer) < 0)
        return hdf5_fail(err, "a transfer as a chunk (--hdf5.chunkSize) of '%s'", g->c->path);
    return 0;
}

/* Check that the dataset is a row of 64-bit elements, as long as a segment (exact) or longer. */
static int check_shape(const struct hdf5_segments *g, hid_t dset, const char *name, bool exact,
                       struct weir_err *err)
{
    hid_t space = H5Dget_space(dset);
    hid_t type = H5Dget_type(dset);
    hsize_t need = g->bytes / HDF5_ELEMENT;
    hsize_t have = 0;
    int rc = 0;

    if (space < 0 || type < 0)
        rc = hdf5_fail(err, "shape of dataset '%s' in '%s'", name, g->c->path);
    else if (H5Sget_simple_extent_ndims(space) != 1 ||
             H5Sget_simple_extent_dims(space, &have, NULL) != 1 ||
             H5Tget_class(type) != H5T_INTEGER || H5Tget_size(type) != HDF5_ELEMENT)
        rc = weir_refuse(err, WEIR_EIO, "dataset '%s' in '%s' is not a row of 64-bit integers",
                         name, g->c->path);
    else if (have < need || (exact && have != need))
        rc = weir_refuse(err, WEIR_EIO,
                         "dataset '%s' in '%s' has %llu elements, this test needs %llu", name,
                         g->c->path, (unsigned long long)have, (unsigned long long)need);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return rc;
}

static hid_t open_checked(const struct hdf5_segments *g, uint64_t segment, bool exact,
                          struct weir_err *err)
{
    char name[NAME_TEXT];
    hid_t dset;
    int sys;

    name_of(segment, name);
    errno = 0;
    dset = H5Dopen2(g->c->id, name, H5P_DEFAULT);
    sys = errno;
    if (dset < 0) {
        hdf5_fail(err, "open dataset '%s' in '%s'", name, g->c->path);
        weir_mpi_add_reason(err, sys == EAGAIN ? sys : 0, 0); /* worth a retry */
        return H5I_INVALID_HID;
    }
    if (check_shape(g, dset, name, exact, err) < 0) {
        H5Dclose(dset);
        return H5I_INVALID_HID;
    }
    return dset;
}

/* The selection in memory changes with the length only. */
static int select_memory(struct hdf5_segments *g, uint64_t n)
{
    hsize_t start = 0;
    hsize_t count = n;

    if (n == g->picked)
        return 0;
    g->picked = n;
    if (n == 0)
        return H5Sselect_none(g->set.in_memory);
    return H5Sselect_hyperslab(g->set.in_memory, H5S_SELECT_SET, &start, NULL, &count, NULL);
}

/* Select n elements from element 'first' of a dataset on, and as many in memory; none when n is 0. */
static int select_elements(struct hdf5_segments *g, uint64_t first, uint64_t n, struct weir_err *err)
{
    hsize_t start = first;
    hsize_t count = n;
    herr_t rc;

    g->first = first;
    if (n > g->transfer)
        return weir_refuse(err, WEIR_EBUG, "%llu elements of '%s' are more than a transfer",
                           (unsigned long long)n, g->c->path);
    if (n == 0)
        rc = H5Sselect_none(g->set.in_file);
    else
        rc = H5Sselect_hyperslab(g->set.in_file, H5S_SELECT_SET, &start, NULL, &count, NULL);
    if (rc < 0 || select_memory(g, n) < 0)
        return hdf5_fail(err, "select %llu elements of '%s'", (unsigned long long)n, g->c->path);
    return 0;
}

/* A call that reports success and leaves an errno. HDF5 checks how much an independent write has
 * moved, but returns zeros for bytes that a read did not get. */
static int doubt(const struct hdf5_segments *g, enum weir_dir dir, const void *buf, int sys,
                 struct weir_mpi_doubt *d, struct weir_err *err)
{
    const char *call = hdf5_set_call(dir);

    if (dir == WEIR_DIR_WRITE && !g->c->st->collective)
        return 0;
    if (!d || (dir == WEIR_DIR_READ && g->set.where == 0))
        return weir_mpi_refuse_hidden(err, sys, call, "it is not known which data were moved");
    if (dir == WEIR_DIR_READ)
        return weir_mpi_doubt_scan(d, g->c->path, sys, call, buf, g->picked * HDF5_ELEMENT,
                                   g->set.where + g->first * HDF5_ELEMENT, err);
    if (g->picked == 0)
        weir_mpi_doubt_keep(d, sys, call, 0, INT64_MAX);
    else
        weir_mpi_doubt_keep(d, sys, call, g->set.where,
                            g->set.where ? g->set.where + g->bytes : UINT64_MAX);
    return 0;
}

/* Write or read what is selected. Where the call succeeds but leaves an errno, the bytes in the file
 * are compared, those of collective writes at close (they are noted in d; NULL: nothing can be
 * compared, so it is an error). *sys gets the errno. Collective over the file when transfers are. */
static int move(struct hdf5_segments *g, hid_t dset, enum weir_dir dir, void *buf, int *sys,
                struct weir_mpi_doubt *d, struct weir_err *err)
{
    struct hdf5_set set = g->set;

    set.id = dset;
    if (dir == WEIR_DIR_READ)
        weir_mpi_mark(buf, g->picked * HDF5_ELEMENT);
    if (hdf5_set_move(g->c, &set, dir, buf, sys, err) < 0)
        return -1;
    return *sys && weir_mpi_hidden_errno(&g->c->st->mpi, *sys) ? doubt(g, dir, buf, *sys, d, err)
                                                               : 0;
}

/* Fill this rank's block with zeros. Without memory for zeros only make the collective calls that
 * the others wait for. */
static int fill_block(struct hdf5_segments *g, hid_t dset, uint64_t piece, void *zeros,
                      struct weir_err *err)
{
    const struct hdf5_state *st = g->c->st;
    uint64_t block = g->bytes / HDF5_ELEMENT;
    uint64_t word = 0;
    int rank = 0, size = 1;
    int rc = 0;
    int sys;

    MPI_Comm_rank(st->comm, &rank);
    MPI_Comm_size(st->comm, &size);
    block /= (uint64_t)size;
    for (uint64_t at = 0; at < block && (rc == 0 || st->collective); at += piece) {
        uint64_t n = !zeros ? 0 : block - at < piece ? block - at : piece;
        struct weir_err *first_err = rc < 0 ? NULL : err;

        if (select_elements(g, (uint64_t)rank * block + at, n, first_err) < 0 ||
            move(g, dset, WEIR_DIR_WRITE, zeros ? zeros : &word, &sys, NULL, first_err) < 0)
            rc = -1;
    }
    return rc;
}

/* Write zeros into all of a new dataset, each rank its block. The library would do that for
 * chunked datasets while it makes them, but when it fails there on one rank, the others wait for
 * ever. Collective over the file, but a rank may fail alone. */
static int fill(struct hdf5_segments *g, hid_t dset, struct weir_err *err)
{
    uint64_t piece = g->transfer < PIECE ? g->transfer : PIECE;
    void *zeros = calloc(piece, HDF5_ELEMENT);
    int rc = fill_block(g, dset, piece, zeros, zeros ? err : NULL);

    if (!zeros) {
        rc = weir_fail(err, WEIR_ESETUP, "write fill values to '%s'", g->c->path);
    } else if (rc < 0) {
        weir_explain_write(g->c->st->s, g->c->path, piece * HDF5_ELEMENT, err);
        weir_err_within(err, "write fill values to '%s'", g->c->path);
    }
    free(zeros);
    return rc;
}

static hid_t create_one(struct hdf5_segments *g, uint64_t segment, bool *is_new,
                        struct weir_err *err)
{
    char name[NAME_TEXT];
    hid_t dset;
    htri_t there;

    name_of(segment, name);
    errno = 0;
    there = g->c->fresh ? 0 : H5Lexists(g->c->id, name, H5P_DEFAULT);
    if (there < 0)
        return hdf5_fail(err, "check for dataset '%s' in '%s'", name, g->c->path);
    *is_new = there == 0;
    if (there > 0)
        return open_checked(g, segment, true, err);
    hdf5_container_guard(g->c);
    dset = H5Dcreate2(g->c->id, name, H5T_NATIVE_INT64, g->set.in_file, H5P_DEFAULT,
                      g->c->st->create, H5P_DEFAULT);
    if (hdf5_container_unguard(g->c, "H5Dcreate2", err) < 0) {
        H5Dclose(dset);
        return H5I_INVALID_HID;
    }
    if (dset < 0)
        return hdf5_fail(err, "create dataset '%s' in '%s'", name, g->c->path);
    return dset;
}

/* Room to keep the first 'count' datasets open. */
static int reserve(struct hdf5_segments *g, uint64_t count, struct weir_err *err)
{
    g->all = calloc(count ? count : 1, sizeof(*g->all));
    if (!g->all)
        return weir_fail(err, WEIR_ESETUP, "memory for %llu datasets of '%s'",
                         (unsigned long long)count, g->c->path);
    g->kept = count;
    for (uint64_t i = 0; i < count; i++)
        g->all[i] = H5I_INVALID_HID;
    return 0;
}

/* A dataset that was made stays open, or is closed again where there are too many. */
static int keep(struct hdf5_segments *g, uint64_t segment, hid_t dset, struct weir_err *err)
{
    if (segment < g->kept)
        g->all[segment] = dset;
    else if (dset >= 0 && H5Dclose(dset) < 0)
        return hdf5_fail(err, "close dataset %llu of '%s'", (unsigned long long)segment, g->c->path);
    return 0;
}

/* Make the datasets that the file does not have, with fill values where those are wanted, and refuse
 * those it has in another shape. All of them before the first transfer: creating one is collective,
 * and no rank may wait for another in the loop. A rank whose write of metadata fails goes on with the
 * others to the end of a batch, where all learn of it. Fill values are collective: each dataset is a batch. */
static int create_all(struct hdf5_segments *g, struct weir_err *err)
{
    const struct hdf5_state *st = g->c->st;
    bool begun = g->set.in_file >= 0 && g->set.in_memory >= 0;
    int rc = begun ? reserve(g, g->count < KEPT_MAX ? g->count : KEPT_MAX, err) : -1;

    if (weir_mpi_agree(st->comm, rc) < 0)
        return rc;
    for (uint64_t i = 0; i < g->count; i++) {
        bool is_new = false;
        hid_t dset = create_one(g, i, &is_new, rc < 0 ? NULL : err);

        rc = dset < 0 ? -1 : rc;
        if (st->fill && weir_mpi_agree(st->comm, rc) == 0 && is_new)
            rc = fill(g, dset, err);
        if (keep(g, i, dset, rc < 0 ? NULL : err) < 0)
            rc = -1;
        if ((st->fill || i % BATCH == BATCH - 1 || i == g->count - 1) &&
            weir_mpi_agree(st->comm, rc) < 0)
            return rc;
    }
    return 0;
}

static void close_kept(struct hdf5_segments *g)
{
    for (uint64_t i = 0; i < g->kept; i++)
        if (g->all[i] >= 0)
            H5Dclose(g->all[i]);
    free(g->all);
    g->all = NULL;
    g->kept = 0;
}

/* For files on which opening a dataset is collective (collective metadata). */
static int open_all(struct hdf5_segments *g, struct weir_err *err)
{
    int rc;

    if (g->kept == g->count && g->all)
        return 0;
    close_kept(g);
    if (g->count > KEPT_MAX) { /* is the last one there at all? Then there are as many to keep */
        hid_t last = open_checked(g, g->count - 1, false, err);

        if (last < 0)
            return -1;
        H5Dclose(last);
    }
    rc = reserve(g, g->count, err);
    if (weir_mpi_agree(g->c->st->comm, rc) < 0)
        return rc;
    for (uint64_t i = 0; i < g->count; i++) {
        g->all[i] = open_checked(g, i, false, err);
        if (g->all[i] < 0)
            return -1;
    }
    return 0;
}

int hdf5_segments_open(struct hdf5_segments *g, struct hdf5_container *c,
                       const struct weir_file *file, struct weir_err *err)
{
    const struct hdf5_options *o = file->s->opt;
    int rc;

    g->c = c;
    c->datasets = file->extent.segments;
    rc = begin(g, file, err);
    if (c->writes && create_all(g, rc < 0 ? NULL : err) < 0) {
        c->torn = g->all; /* else nothing was made */
        rc = -1;
    }
    if (!o->collective_metadata || weir_mpi_agree(c->st->comm, rc) < 0)
        return rc;
    return open_all(g, err);
}

/* ---- transfers ---- */

/* Segment 'segment' is the current one from now on. */
static hid_t switch_to(struct hdf5_segments *g, uint64_t segment, hid_t dset)
{
    hdf5_set_use(&g->set, dset);
    g->at = segment;
    return dset;
}

/* The dataset of a segment, kept open until another one is asked for. Negative and err when it
 * cannot be opened or is shorter than a segment. */
static hid_t get_dataset(struct hdf5_segments *g, uint64_t segment, struct weir_err *err)
{
    if (g->set.id >= 0 && g->at == segment)
        return g->set.id;
    if (g->set.id >= 0 && g->at >= g->kept)
        H5Dclose(g->set.id);
    if (segment < g->kept)
        return switch_to(g, segment, g->all[segment]);
    if (g->kept > 0 && segment >= g->count) {
        weir_refuse(err, WEIR_EBUG, "'%s' has no segment %llu", g->c->path,
                    (unsigned long long)segment);
        return switch_to(g, segment, H5I_INVALID_HID);
    }
    return switch_to(g, segment, open_checked(g, segment, false, err));
}

/* Move it, and record a failure, or how far the file goes. */
static int move_io(struct hdf5_segments *g, hid_t dset, const struct weir_io *io,
                   struct weir_err *err)
{
    void *buf = io->buf ? io->buf : &g->word;
    uint64_t end = g->set.where + io->off % g->bytes + io->len;
    bool writes = io->dir == WEIR_DIR_WRITE;
    int sys;

    if (move(g, dset, io->dir, buf, &sys, &g->c->doubt, err) < 0) {
        /* a call that is repeated has not failed yet; a collective one is not repeated */
        g->c->failed |= writes && ((sys != EINTR && sys != EAGAIN) || g->c->st->collective);
        return -1;
    }
    if (writes && g->set.where > 0 && io->len > 0 && end > g->c->end)
        g->c->end = end;
    return 0;
}

/* The dataset of a transfer. Opening one reads the file, which a rank may fail to do alone: where
 * the transfer is collective the others must know, or they wait for it. They return 0 and *skip. */
static int find_dataset(struct hdf5_segments *g, uint64_t segment, hid_t *dset, bool *skip,
                        struct weir_err *err)
{
    const struct hdf5_state *st = g->c->st;
    bool opens = segment >= g->kept && !(g->set.id >= 0 && g->at == segment);

    *dset = get_dataset(g, segment, err);
    *skip = opens && st->s->access.collective && weir_mpi_agree(st->comm, *dset < 0 ? -1 : 0) < 0;
    return *dset < 0 ? -1 : 0;
}

ssize_t hdf5_segments_xfer(struct hdf5_segments *g, const struct weir_io *io, struct weir_err *err)
{
    struct weir_io now = *io;
    bool skip;
    hid_t dset;

    if (g->bytes == 0)
        return weir_refuse(err, WEIR_EBUG, "a file of HDF5 was opened without its geometry");
    if (io->len % HDF5_ELEMENT || io->off % HDF5_ELEMENT)
        return weir_refuse(err, WEIR_EBUG, "offset or length is not a multiple of 8");
    if (io->len > CALL_MAX && !g->c->st->s->access.collective)
        now.len = CALL_MAX;
    if (find_dataset(g, io->off / g->bytes, &dset, &skip, err) < 0)
        return -1;
    if (skip)
        return (ssize_t)io->len; /* the phase has failed, and another rank says why */
    if (select_elements(g, io->off % g->bytes / HDF5_ELEMENT, now.len / HDF5_ELEMENT, err) < 0)
        return -1;
    return move_io(g, dset, &now, err) < 0 ? -1 : (ssize_t)now.len;
}

void hdf5_segments_end(struct hdf5_segments *g)
{
    bool counts = g->c->st->filter && weir_mpi_is_first(g->c->st->comm);

    for (uint64_t i = 0; counts && i < g->count; i++)
        hdf5_filters_count(g->c, get_dataset(g, i, NULL));
    if (g->set.id >= 0 && g->at >= g->kept)
        H5Dclose(g->set.id);
    close_kept(g);
    g->set.id = H5I_INVALID_HID;
    hdf5_set_close_spaces(&g->set);
}
