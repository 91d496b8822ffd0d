/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - what MPI calls itself and the hosts */
#include "config.h"
#include "par/library.h"

#include <stdlib.h>
#include <string.h>

void weir_mpi_library(struct weir_str *out)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int len = 0;

    MPI_Get_library_version(text, &len);
    weir_str_add(out, text, strcspn(text, "\n"));
}

/* Every rank but the first of a run of ranks on one host sends an empty name: what rank 0 holds is
 * short names only. */
void weir_par_hosts(const struct weir_par *par, struct weir_str *out)
{
    char before[WEIR_HOST_TEXT] = "", *all = NULL;
    char mine[WEIR_HOST_TEXT] = "";

    MPI_Sendrecv(par->host, WEIR_HOST_TEXT, MPI_CHAR,
                 par->rank + 1 < par->size ? par->rank + 1 : MPI_PROC_NULL, 0, before,
                 WEIR_HOST_TEXT, MPI_CHAR, par->rank > 0 ? par->rank - 1 : MPI_PROC_NULL, 0,
                 par->comm, MPI_STATUS_IGNORE);
    if (par->rank == 0 || strcmp(before, par->host) != 0)
        memcpy(mine, par->host, sizeof(mine));
    if (par->rank == 0)
        all = malloc((size_t)par->size * WEIR_HOST_TEXT);
    weir_gather(par, mine, sizeof(mine), all);
    for (int i = 0; all && i < par->size; i++)
        if (all[(size_t)i * WEIR_HOST_TEXT])
            weir_str_addf(out, "%s%s", i ? " " : "", all + (size_t)i * WEIR_HOST_TEXT);
    free(all);
}
