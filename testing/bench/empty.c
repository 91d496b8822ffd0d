/* SPDX-License-Identifier: BSD-3-Clause */
/* empty.c - the MPI program that does nothing: what starting and ending costs anyway */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
