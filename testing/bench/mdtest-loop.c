/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-loop.c - what mdtest -F is compared with: create, stat and remove of empty files in a bare loop
 *
 *   mdtest-loop DIR FILES REPEATS
 *
 * Every task works in a directory as deep as mdtest's, DIR/test-dir.0-0/mdtest_tree.<rank>.0. Rank 0 prints the best rates over the repeats, files a second of all tasks:
 * "create RATE stat RATE remove RATE". */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int create_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0664);

    return fd < 0 ? -1 : close(fd);
}

static int stat_file(const char *path)
{
    struct stat st;

    return stat(path, &st);
}

static int (*const calls[])(const char *) = { create_file, stat_file, unlink };
static const char *const names[] = { "create", "stat", "remove" };

/* Seconds that the slowest task needs for one phase. */
static double run_phase(int phase, const char *dir, long files)
{
    char path[4096];
    double begin, mine, longest;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (long i = 0; i < files; i++) {
        snprintf(path, sizeof(path), "%s/file.mdtest.0.%ld", dir, i);
        if (calls[phase](path) < 0) {
            perror(path);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    mine = MPI_Wtime() - begin;
    MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

int main(int argc, char **argv)
{
    double best[3] = { 0 };
    char dir[3000];
    long files;
    int rank, size, repeats;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    files = strtol(argv[2], NULL, 10);
    repeats = (int)strtol(argv[3], NULL, 10);
    snprintf(dir, sizeof(dir), "%s/test-dir.0-0", argv[1]);
    mkdir(dir, 0775); /* the first task makes it */
    snprintf(dir, sizeof(dir), "%s/test-dir.0-0/mdtest_tree.%d.0", argv[1], rank);
    if (mkdir(dir, 0775) < 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < repeats; i++) {
        for (int phase = 0; phase < 3; phase++) {
            double rate = (double)files * size / run_phase(phase, dir, files);

            if (rate > best[phase])
                best[phase] = rate;
        }
    }
    rmdir(dir);
    for (int phase = 0; rank == 0 && phase < 3; phase++)
        printf("%s %.1f%c", names[phase], best[phase], phase < 2 ? ' ' : '\n');
    MPI_Finalize();
    return 0;
}
