/* SPDX-License-Identifier: BSD-3-Clause */
/* add-one-filter.c - a plugin of HDF5 with the number of zstd: adds the level to every byte of a chunk, and takes it away */
#include <stddef.h>

/* What H5PLextern.h and H5Zpublic.h declare: the folder of HDF5's headers need not be known. */
typedef int (*apply_fn)(void);
typedef size_t (*filter_fn)(unsigned flags, size_t n, const unsigned values[], size_t bytes, size_t *size, void **buf);
struct class2 {
    int version, id;
    unsigned encodes, decodes;
    const char *name;
    apply_fn can_apply, set_local;
    filter_fn filter;
};

static size_t filter(unsigned flags, size_t n, const unsigned values[], size_t bytes, size_t *size, void **buf)
{
    unsigned char *at = *buf, step = n > 0 ? (unsigned char)values[0] : 1;

    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(flags & 0x100 ? at[i] - step : at[i] + step); /* H5Z_FLAG_REVERSE */
    return bytes;
}

static const struct class2 row = { 1, 32015, 1, 1, "add one", NULL, NULL, filter };

int H5PLget_plugin_type(void)
{
    return 0; /* H5PL_TYPE_FILTER */
}

const void *H5PLget_plugin_info(void)
{
    return &row;
}
