/* SPDX-License-Identifier: BSD-3-Clause */
/* bare-mpi.c - the least that moves the same bytes through a library: a loop of its calls on each rank, one
 * block of a shared file for each; HDF5: one block of each segment, which is a dataset. Prints the seconds of
 * its fastest repetition, from the first call of any rank to the end of the last one: of the transfers, and
 * with open and close. LIBRARY, a macro, is MPIIO, HDF5 or NCMPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MPIIO 1
#define HDF5 2
#define NCMPI 3

struct job {
    const char *path;
    int writes, collective, rank, ranks;
    size_t len; /* of a transfer */
    long count; /* transfers of a rank, in each segment */
    long segments;
    void *buf;
};

#if LIBRARY == MPIIO

struct file {
    MPI_File handle;
};

static int open_file(const struct job *j, struct file *f)
{
    int mode = j->writes ? MPI_MODE_CREATE | (j->collective ? MPI_MODE_RDWR : MPI_MODE_WRONLY)
                         : MPI_MODE_RDONLY;

    return MPI_File_open(MPI_COMM_WORLD, j->path, mode, MPI_INFO_NULL, &f->handle);
}

static int move_all(const struct job *j, struct file *f)
{
    MPI_Offset at = (MPI_Offset)j->rank * j->count * (MPI_Offset)j->len;
    int (*writes)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) =
        j->collective ? MPI_File_write_at_all : MPI_File_write_at;
    int (*reads)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) =
        j->collective ? MPI_File_read_at_all : MPI_File_read_at;
    MPI_Status status;
    int rc = 0;

    for (long i = 0; i < j->count && rc == 0; i++, at += (MPI_Offset)j->len)
        rc = j->writes ? writes(f->handle, at, j->buf, (int)j->len, MPI_BYTE, &status)
                       : reads(f->handle, at, j->buf, (int)j->len, MPI_BYTE, &status);
    return rc;
}

static int close_file(struct file *f)
{
    return MPI_File_close(&f->handle);
}

#elif LIBRARY == HDF5
#include <hdf5.h>

#define ELEMENT 8

struct file {
    hid_t access, transfer, id, in_file, in_memory, *dset;
    long segments;
};

static hid_t open_dataset(const struct job *j, const struct file *f, long segment)
{
    char name[40];

    snprintf(name, sizeof(name), "Dataset-0000.%04ld", segment);
    return j->writes ? H5Dcreate2(f->id, name, H5T_NATIVE_INT64, f->in_file, H5P_DEFAULT,
                                  H5P_DEFAULT, H5P_DEFAULT)
                     : H5Dopen2(f->id, name, H5P_DEFAULT);
}

static int open_file(const struct job *j, struct file *f)
{
    hsize_t elements = (hsize_t)j->ranks * (hsize_t)j->count * j->len / ELEMENT;
    hsize_t piece = j->len / ELEMENT;

    f->access = H5Pcreate(H5P_FILE_ACCESS);
    f->transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(f->access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(f->transfer, j->collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    f->in_file = H5Screate_simple(1, &elements, NULL);
    f->in_memory = H5Screate_simple(1, &piece, NULL);
    f->id = j->writes ? H5Fcreate(j->path, H5F_ACC_TRUNC, H5P_DEFAULT, f->access)
                      : H5Fopen(j->path, H5F_ACC_RDONLY, f->access);
    f->segments = j->segments;
    f->dset = calloc((size_t)j->segments, sizeof(*f->dset));
    for (long i = 0; i < j->segments; i++)
        if ((f->dset[i] = open_dataset(j, f, i)) < 0)
            return 1;
    return 0;
}

static int move_segment(const struct job *j, struct file *f, hid_t dset)
{
    hsize_t piece = j->len / ELEMENT;
    hsize_t start = (hsize_t)j->rank * (hsize_t)j->count * piece;
    int rc = 0;

    for (long i = 0; i < j->count && rc >= 0; i++, start += piece) {
        H5Sselect_hyperslab(f->in_file, H5S_SELECT_SET, &start, NULL, &piece, NULL);
        rc = j->writes
                 ? H5Dwrite(dset, H5T_NATIVE_INT64, f->in_memory, f->in_file, f->transfer, j->buf)
                 : H5Dread(dset, H5T_NATIVE_INT64, f->in_memory, f->in_file, f->transfer, j->buf);
    }
    return rc < 0;
}

static int move_all(const struct job *j, struct file *f)
{
    int rc = 0;

    for (long i = 0; i < j->segments && rc == 0; i++)
        rc = move_segment(j, f, f->dset[i]);
    return rc;
}

static int close_file(struct file *f)
{
    H5Sclose(f->in_memory);
    H5Sclose(f->in_file);
    for (long i = 0; i < f->segments; i++)
        H5Dclose(f->dset[i]);
    free(f->dset);
    H5Pclose(f->transfer);
    H5Pclose(f->access);
    return H5Fclose(f->id) < 0;
}

#else
#include <pnetcdf.h>

struct file {
    int nc, var, collective;
};

static int define(const struct job *j, struct file *f)
{
    int dims[3];

    ncmpi_def_dim(f->nc, "segments_times_np", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(f->nc, "number_of_transfers", j->count, &dims[1]);
    ncmpi_def_dim(f->nc, "transfer_size", (MPI_Offset)j->len, &dims[2]);
    ncmpi_def_var(f->nc, "data_var", NC_BYTE, 3, dims, &f->var);
    return ncmpi_enddef(f->nc);
}

/* All records are there before the first transfer. */
static int extend(const struct job *j, struct file *f)
{
    MPI_Offset start[3] = { j->ranks - 1, 0, 0 };
    MPI_Offset count[3] = { 1, 0, 0 };
    signed char nothing = 0;

    return ncmpi_put_vara_schar_all(f->nc, f->var, start, count, &nothing);
}

static int open_file(const struct job *j, struct file *f)
{
    int rc;

    f->collective = j->collective;
    if (j->writes)
        rc = ncmpi_create(MPI_COMM_WORLD, j->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                          &f->nc);
    else
        rc = ncmpi_open(MPI_COMM_WORLD, j->path, NC_NOWRITE, MPI_INFO_NULL, &f->nc);
    if (rc == 0)
        rc = j->writes ? define(j, f) || extend(j, f) : ncmpi_inq_varid(f->nc, "data_var", &f->var);
    return rc == 0 && !j->collective ? ncmpi_begin_indep_data(f->nc) : rc;
}

static int move_all(const struct job *j, struct file *f)
{
    MPI_Offset start[3] = { j->rank, 0, 0 };
    MPI_Offset count[3] = { 1, 1, (MPI_Offset)j->len };
    int rc = 0;

    for (; start[1] < j->count && rc == 0; start[1]++)
        if (j->writes)
            rc = j->collective ? ncmpi_put_vara_schar_all(f->nc, f->var, start, count, j->buf)
                               : ncmpi_put_vara_schar(f->nc, f->var, start, count, j->buf);
        else
            rc = j->collective ? ncmpi_get_vara_schar_all(f->nc, f->var, start, count, j->buf)
                               : ncmpi_get_vara_schar(f->nc, f->var, start, count, j->buf);
    return rc;
}

static int close_file(struct file *f)
{
    if (!f->collective)
        ncmpi_end_indep_data(f->nc);
    return ncmpi_close(f->nc);
}

#endif

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { WORK, WHOLE, TIMES };

/* Once through the file, which is new when it is written. Its seconds, or -1. */
static int run_once(const struct job *j, double seconds[TIMES])
{
    struct file f;
    double span[2 * TIMES]; /* the latest ends, and the earliest begins with the sign turned */
    int rc;

    if (j->writes && j->rank == 0)
        unlink(j->path);
    MPI_Barrier(MPI_COMM_WORLD);
    span[TIMES + WHOLE] = -now();
    if (open_file(j, &f) != 0)
        return -1;
    MPI_Barrier(MPI_COMM_WORLD);
    span[TIMES + WORK] = -now();
    rc = move_all(j, &f);
    span[WORK] = now();
    if (close_file(&f) != 0 || rc != 0)
        return -1;
    span[WHOLE] = now();
    MPI_Allreduce(MPI_IN_PLACE, span, 2 * TIMES, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++)
        seconds[i] = span[i] + span[TIMES + i];
    return 0;
}

static int measure(struct job *j, long repeats)
{
    double best[TIMES] = { -1, -1 }, seconds[TIMES];

    if (posix_memalign(&j->buf, 4096, j->len) != 0)
        return 1;
    memset(j->buf, 7, j->len);
    for (; repeats > 0 && run_once(j, seconds) == 0; repeats--)
        for (int i = 0; i < TIMES; i++)
            if (best[i] < 0 || seconds[i] < best[i])
                best[i] = seconds[i];
    free(j->buf);
    if (j->rank == 0)
        printf("%.9f %.9f\n", best[WORK], best[WHOLE]);
    return repeats > 0;
}

int main(int argc, char **argv)
{
    struct job j = { 0 };
    int rc = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
    if (argc == 8) {
        j.writes = argv[1][0] == 'w';
        j.collective = argv[2][0] == 'c';
        j.path = argv[3];
        j.len = strtoul(argv[4], NULL, 10);
        j.count = strtol(argv[5], NULL, 10);
        j.segments = strtol(argv[6], NULL, 10);
        rc = measure(&j, strtol(argv[7], NULL, 10));
    } else {
        fprintf(stderr,
                "usage: bare-mpi write|read collective|independent PATH BYTES COUNT SEGMENTS "
                "REPETITIONS\n");
    }
    MPI_Finalize();
    return rc;
}
