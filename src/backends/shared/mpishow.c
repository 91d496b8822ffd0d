/* SPDX-License-Identifier: BSD-3-Clause */
/* mpishow.c - the hints in effect of an open file: shown, listed and compared with those given */
#include "backends/shared/mpishow.h"

#include <string.h>

#include "par/io/mpisession.h"

static void list_info(MPI_Info info, struct weir_str *out)
{
    char key[MPI_MAX_INFO_KEY + 1];
    char value[MPI_MAX_INFO_VAL + 1];
    int n = 0;

    if (info != MPI_INFO_NULL)
        MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        int found = 0;

        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (found) {
            weir_str_add(out, key, strlen(key) + 1);
            weir_str_add(out, value, strlen(value) + 1);
        }
    }
}

static void show_info(MPI_Info info, const char *title, struct weir_str *out)
{
    struct weir_str pairs = { 0 };

    list_info(info, &pairs);
    weir_str_addf(out, "\n%s {\n", title);
    for (size_t at = 0; at < pairs.len;) {
        const char *key = pairs.text + at;
        const char *value = key + strlen(key) + 1;

        weir_str_addf(out, "\t%s = %s\n", key, value);
        at += strlen(key) + strlen(value) + 2;
    }
    weir_str_addf(out, "}\n");
    weir_str_free(&pairs);
}

static void free_info(MPI_Info info)
{
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

MPI_Info weir_mpi_info_of(const MPI_File *handle)
{
    MPI_Info used = MPI_INFO_NULL;

    return handle && MPI_File_get_info(*handle, &used) == MPI_SUCCESS ? used : MPI_INFO_NULL;
}

void weir_mpi_list_hints(MPI_Info used, struct weir_str *out)
{
    list_info(used, out);
    free_info(used);
}

void weir_mpi_show_hints(const struct weir_session *s, MPI_Info used, struct weir_str *out)
{
    const struct weir_mpi_options *o = s->opt;
    const struct weir_mpi_session *m = s->priv;

    if (o->show_hints) {
        show_info(m->info, "hints passed to MPI_File_open()", out);
        show_info(used, "hints returned from opened file", out);
    }
    free_info(used);
}

static bool value_of(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    int found = 0;

    if (info != MPI_INFO_NULL)
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    return found;
}

void weir_mpi_judge_hints(const struct weir_session *s, MPI_Info used, struct weir_applied *out)
{
    static const char *const layout[] = { "striping_factor", "striping_unit" };
    static const char *const buffering[] = { "romio_cb_write", "romio_cb_read" };
    const struct weir_mpi_session *m = s->priv;
    char asked[MPI_MAX_INFO_VAL + 1], value[MPI_MAX_INFO_VAL + 1];

    for (size_t i = 0; i < sizeof(layout) / sizeof(*layout); i++)
        if (value_of(m->info, layout[i], asked) && value_of(used, layout[i], value) &&
            out->other_layout != 1)
            out->other_layout = strcmp(asked, value) != 0;
    for (size_t i = 0; i < sizeof(buffering) / sizeof(*buffering); i++)
        if (value_of(used, buffering[i], value) && out->independent != 1)
            out->independent = strcmp(value, "disable") == 0  ? 1
                               : strcmp(value, "enable") == 0 ? 0
                                                              : out->independent;
    free_info(used);
}
