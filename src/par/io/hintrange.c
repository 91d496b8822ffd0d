/* SPDX-License-Identifier: BSD-3-Clause */
/* hintrange.c - the hints with numbers that MPI-IO libraries know, and the values that are safe */
#include "config.h"
#include "par/io/hintrange.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct range {
    const char *key;
    int64_t min, max;
    const char *what; /* the number is of these */
};

/* Libraries do not check them: 0 aggregators or a negative stripe divide by zero, a negative
 * buffer ends the job in the allocation, and a suffix is not read ("1m" is 1). ROMIO and OMPIO
 * keep their numbers in an int. */
static const struct range ranges[] = {
    { "bytes_per_agg", 1, INT_MAX, "bytes" },
    { "cb_block_size", 1, INT_MAX, "bytes" },
    { "cb_buffer_size", 1, INT_MAX, "bytes" },
    { "cb_nodes", 1, INT_MAX, "tasks" },
    { "ind_rd_buffer_size", 1, INT_MAX, "bytes" },
    { "ind_wr_buffer_size", 1, INT_MAX, "bytes" },
    { "nb_proc", 1, INT_MAX, "tasks" },
    { "nc_header_align_size", 0, INT64_MAX, "bytes" },
    { "nc_header_read_chunk_size", 0, INT_MAX, "bytes" },
    { "nc_ibuf_size", 0, INT64_MAX, "bytes" },
    { "nc_num_subfiles", 0, INT_MAX, "files" },
    { "nc_record_align_size", 0, INT64_MAX, "bytes" },
    { "nc_var_align_size", 0, INT64_MAX, "bytes" },
    { "num_aggregators", -1, INT_MAX, "tasks" },
    { "num_io_nodes", 1, INT_MAX, "nodes" },
    { "romio_cb_ds_threshold", 0, INT_MAX, "bytes" },
    { "romio_cb_fr_alignment", 1, INT_MAX, "bytes" },
    { "romio_lustre_co_ratio", 1, INT_MAX, "tasks for a stripe" },
    { "romio_lustre_coll_threshold", 0, INT_MAX, "bytes" },
    { "romio_min_fdomain_size", 0, INT_MAX, "bytes" },
    { "start_iodevice", -1, INT_MAX, "devices" },
    { "striping_factor", -1, INT_MAX, "devices" },
    { "striping_unit", 0, INT_MAX, "bytes" },
    { NULL, 0, 0, NULL },
};

static const struct range *find(const char *key)
{
    const struct range *r = ranges;

    while (r->key && strcmp(r->key, key) != 0)
        r++;
    return r->key ? r : NULL;
}

int weir_hint_check(const char *key, const char *value, struct weir_err *err)
{
    const struct range *r = find(key);
    char *end;
    long long n;

    if (!r)
        return 0;
    n = strtoll(value, &end, 10); /* too large a number is the largest */
    if (end != value && *end == '\0' && n >= r->min && n <= r->max &&
        (r->max < LLONG_MAX || n < LLONG_MAX))
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "must be a whole number from %lld to %lld (%s), without a suffix",
                       (long long)r->min, (long long)r->max, r->what);
}
