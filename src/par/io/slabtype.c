/* SPDX-License-Identifier: BSD-3-Clause */
/* slabtype.c - part of an array as an MPI data type */
#include "par/io/slabtype.h"

#include <limits.h>

#include "par/io/mpifile.h"

#define CHUNK (1 << 30) /* counts of MPI are int: long types are made of pieces */

/* n times 'old', 'pitch' bytes apart, n an int. */
static int repeat_few(int n, MPI_Aint pitch, MPI_Datatype old, bool is_dense, MPI_Datatype *out)
{
    return is_dense ? MPI_Type_contiguous(n, old, out)
                    : MPI_Type_create_hvector(n, 1, pitch, old, out);
}

/* n times 'old'. is_base: that is a basic type of 'pitch' bytes; others are freed. */
static int repeat(uint64_t n, MPI_Aint pitch, MPI_Datatype old, bool is_base, MPI_Datatype *out)
{
    MPI_Datatype chunk, parts[2];
    MPI_Aint at[2] = { 0, (MPI_Aint)(n - n % CHUNK) * pitch };
    int lengths[2] = { 1, 1 };
    int rest = (int)(n % CHUNK);
    int rc;

    if (n <= INT_MAX) {
        rc = repeat_few((int)n, pitch, old, is_base, out);
    } else {
        repeat_few(CHUNK, pitch, old, is_base, &chunk);
        repeat_few((int)(n / CHUNK), pitch * CHUNK, chunk, false, &parts[0]);
        repeat_few(rest ? rest : 1, pitch, old, is_base, &parts[1]);
        rc = MPI_Type_create_struct(rest ? 2 : 1, lengths, at, parts, out);
        MPI_Type_free(&parts[1]);
        MPI_Type_free(&parts[0]);
        MPI_Type_free(&chunk);
    }
    if (!is_base)
        MPI_Type_free(&old);
    return rc;
}

int weir_mpi_slab_type(const struct weir_runs *r, uint64_t elem, MPI_Datatype base,
                       MPI_Datatype *out, struct weir_err *err)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int rc;

    *out = MPI_DATATYPE_NULL;
    if (r->run == 0)
        return 0;
    rc = base == MPI_BYTE ? repeat(r->run * elem, 1, base, true, &type)
                          : repeat(r->run, (MPI_Aint)elem, base, true, &type);
    for (int i = 0; i < r->loops && rc == MPI_SUCCESS; i++)
        rc = repeat(r->n[i], (MPI_Aint)(r->pitch[i] * elem), type, false, &type);
    if (rc == MPI_SUCCESS)
        rc = MPI_Type_commit(&type);
    if (rc != MPI_SUCCESS)
        return weir_mpi_fail(err, WEIR_ESETUP, rc, "MPI data type of a slab");
    *out = type;
    return 0;
}
