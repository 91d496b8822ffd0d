/* SPDX-License-Identifier: BSD-3-Clause */
/* bare-checkpoint.c - the least that a step of a checkpoint needs: MPI_Gatherv of a level, or nc_put_vara of
 * it by rank 0 while the others wait. Prints the seconds that all steps of the fastest repetition took on the
 * slowest rank. NETCDF, a macro: with netCDF. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const char *path;
    size_t im, lm;
    int arrays, rank, ranks;
    float *mine, *all;
    int *count, *begin;
};

static double gather_all(const struct job *j)
{
    int n = (int)(6 * j->im * j->im / (size_t)j->ranks);
    double spent = 0, begin;

    for (size_t i = 0; i < j->lm * (size_t)j->arrays; i++) {
        begin = MPI_Wtime();
        MPI_Gatherv(j->mine + i * (size_t)n, n, MPI_FLOAT, j->all, j->count, j->begin, MPI_FLOAT, 0,
                    MPI_COMM_WORLD);
        spent += MPI_Wtime() - begin;
    }
    return spent;
}

#ifdef NETCDF
#include <netcdf.h>
#include <netcdf_par.h>

static double put_all(const struct job *j)
{
    const char *names[] = { "lon", "lat", "lev" };
    size_t len[] = { j->im, 6 * j->im, j->lm }, start[3] = { 0 }, count[3] = { 1, len[1], len[0] };
    double spent = 0, begin;
    char name[16];
    int nc, dim[3], ids[3], var[999], rc;

    if (j->rank > 0)
        return 0;
    rc = nc_create_par(j->path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_SELF, MPI_INFO_NULL, &nc);
    for (int d = 0; d < 3 && rc == NC_NOERR; d++) {
        rc = nc_def_dim(nc, names[d], len[d], &dim[d]);
        ids[2 - d] = dim[d];
    }
    for (int v = 0; v < j->arrays && rc == NC_NOERR; v++) {
        snprintf(name, sizeof(name), "VAR%03d", v + 1);
        rc = nc_def_var(nc, name, NC_FLOAT, 3, ids, &var[v]);
        if (rc == NC_NOERR)
            rc = nc_def_var_chunking(nc, var[v], NC_CHUNKED, count);
        if (rc == NC_NOERR)
            rc = nc_def_var_fill(nc, var[v], NC_NOFILL, NULL);
    }
    if (rc == NC_NOERR)
        rc = nc_enddef(nc);
    begin = MPI_Wtime();
    for (int v = 0; v < j->arrays; v++)
        for (start[0] = 0; start[0] < j->lm && rc == NC_NOERR; start[0]++)
            rc = nc_put_vara_float(nc, var[v], start, count, j->all);
    spent = MPI_Wtime() - begin;
    if (rc == NC_NOERR)
        rc = nc_close(nc);
    if (rc != NC_NOERR) {
        fprintf(stderr, "bare-checkpoint: %s\n", nc_strerror(rc));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return spent;
}
#else
static double put_all(const struct job *j)
{
    (void)j;
    fprintf(stderr, "bare-checkpoint: made without netCDF\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
}
#endif

static int take_memory(struct job *j)
{
    size_t cells = 6 * j->im * j->im;

    j->mine = malloc(j->lm * (size_t)j->arrays * (cells / (size_t)j->ranks) * sizeof(float));
    j->all = calloc(cells, sizeof(float));
    j->count = calloc(2 * (size_t)j->ranks, sizeof(int));
    if (!j->mine || !j->all || !j->count)
        return -1;
    j->begin = j->count + j->ranks;
    for (int r = 0; r < j->ranks; r++) {
        j->count[r] = (int)(cells / (size_t)j->ranks);
        j->begin[r] = r * j->count[r];
    }
    memset(j->mine, 1,
           j->lm * (size_t)j->arrays * (cells / (size_t)j->ranks) * sizeof(float)); /* touched */
    memset(j->all, 1, cells * sizeof(float));
    return 0;
}

/* bare-checkpoint gather|put FILE IM LM ARRAYS REPETITIONS */
int main(int argc, char **argv)
{
    struct job j;
    double best = 1e30, mine, most;

    MPI_Init(&argc, &argv);
    if (argc != 7)
        MPI_Abort(MPI_COMM_WORLD, 1);
    j = (struct job) { .path = argv[2],
                       .im = strtoul(argv[3], NULL, 10),
                       .lm = strtoul(argv[4], NULL, 10),
                       .arrays = (int)strtol(argv[5], NULL, 10) };
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
    if (take_memory(&j) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (long i = strtol(argv[6], NULL, 10); i > 0; i--) {
        MPI_Barrier(MPI_COMM_WORLD);
        mine = strcmp(argv[1], "put") == 0 ? put_all(&j) : gather_all(&j);
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = most < best ? most : best;
    }
    if (j.rank == 0)
        printf("%.9f\n", best);
    MPI_Finalize();
    return 0;
}
