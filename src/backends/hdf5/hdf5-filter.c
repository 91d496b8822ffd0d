/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-filter.c - the filters of new datasets (--hdf5.filter), and what they leave of the data */
#include "backends/hdf5/hdf5-file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "par/io/mpifile.h"

/* A number from min to max may follow the name. Ids of plugins are those of The HDF Group's
 * list. */
static const struct filter {
    const char *name;
    H5Z_filter_t id;
    long min, max, usual;
} filters[] = {
    { "shuffle", H5Z_FILTER_SHUFFLE, 1, 0, 0 },
    { "deflate", H5Z_FILTER_DEFLATE, 0, 9, 6 },
    { "szip", H5Z_FILTER_SZIP, 2, 32, 32 },
    { "fletcher32", H5Z_FILTER_FLETCHER32, 1, 0, 0 },
    { "blosc", 32001, 1, 0, 0 },
    { "lz4", 32004, 1, 0, 0 },
    { "bitshuffle", 32008, 1, 0, 0 },
    { "zstd", 32015, 1, 22, 3 },
};
#define FILTERS (sizeof(filters) / sizeof(*filters))

/* A library can have a filter for reading only (szip). */
static bool can_write(const struct filter *f)
{
    unsigned how = 0;

    return H5Zfilter_avail(f->id) > 0 && H5Zget_filter_info(f->id, &how) >= 0 &&
           (how & H5Z_FILTER_CONFIG_ENCODE_ENABLED);
}

/* The row of a name of len bytes. NULL and err: the library cannot write with it. */
static const struct filter *find(const char *name, size_t len, struct weir_err *err)
{
    struct weir_str have = { 0 };

    for (size_t i = 0; i < FILTERS; i++)
        if (strlen(filters[i].name) == len && memcmp(filters[i].name, name, len) == 0 &&
            can_write(&filters[i]))
            return &filters[i];
    for (size_t i = 0; i < FILTERS; i++)
        if (can_write(&filters[i]))
            weir_str_addf(&have, "%s ", filters[i].name);
    weir_refuse(err, WEIR_EUSAGE,
                "option --hdf5.filter: this HDF5 (%s) cannot write with '%.*s', but with: %sand "
                "plugins in HDF5_PLUGIN_PATH",
                HDF5_VERSION, (int)len, name, weir_str_words(&have));
    weir_str_free(&have);
    return NULL;
}

static int refuse_value(const struct filter *f, const char *word, size_t len, struct weir_err *err)
{
    if (f->min > f->max)
        return weir_refuse(err, WEIR_EUSAGE, "option --hdf5.filter: '%.*s': %s takes no value",
                           (int)len, word, f->name);
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --hdf5.filter: '%.*s': the value of %s must be from %ld to %ld%s",
                       (int)len, word, f->name, f->min, f->max,
                       f->id == H5Z_FILTER_SZIP ? ", and even" : "");
}

/* One filter of len bytes. In *seen are those that came before: the library reads no data that a
 * filter has changed twice. */
static int add_filter(hid_t list, const char *word, size_t len, unsigned *seen, struct weir_err *err)
{
    size_t name = strcspn(word, ":,+");
    const struct filter *f = find(word, name, err);
    long value = f ? f->usual : 0;
    char *end = NULL;
    unsigned arg;
    herr_t rc;

    if (!f)
        return -1;
    if (*seen & 1u << (f - filters))
        return weir_refuse(err, WEIR_EUSAGE, "option --hdf5.filter: '%s' is given twice; give each "
                                             "filter once", f->name);
    *seen |= 1u << (f - filters);
    if (len > name)
        value = strtol(word + name + 1, &end, 10);
    if (end && (len == name + 1 || end != word + len || value < f->min || value > f->max ||
                (f->id == H5Z_FILTER_SZIP && value % 2)))
        return refuse_value(f, word, len, err);
    arg = (unsigned)value;
    if (f->id == H5Z_FILTER_SZIP)
        rc = H5Pset_szip(list, H5_SZIP_NN_OPTION_MASK, arg);
    else /* a chunk that it does not make smaller is stored as it is */
        rc = H5Pset_filter(list, f->id, H5Z_FLAG_OPTIONAL, f->max > 0, &arg);
    return rc < 0 ? hdf5_fail(err, "option --hdf5.filter: '%.*s'", (int)len, word) : 0;
}

int hdf5_filters_set(hid_t list, const char *text, struct weir_err *err)
{
    const char *word = text;
    unsigned seen = 0;

    for (size_t len;; word += len + 1) {
        len = strcspn(word, ",+"); /* -O separates settings by ',' */
        if (len == 0)
            return weir_refuse(err, WEIR_EUSAGE,
                               "option --hdf5.filter: an empty name in the list '%s'", text);
        if (add_filter(list, word, len, &seen, err) < 0)
            return -1;
        if (word[len] == '\0')
            return 0;
    }
}

/* szip is for numbers, and a chunk must have the elements of one of its blocks. The library refuses
 * others only when a dataset is made. */
static int check_szip(hid_t list, uint64_t elements, bool numbers, struct weir_err *err)
{
    unsigned how, value[4] = { 0 };
    size_t n = sizeof(value) / sizeof(*value);
    herr_t found;

    H5E_BEGIN_TRY /* a list without szip is no error */
    {
        found = H5Pget_filter_by_id2(list, H5Z_FILTER_SZIP, &how, &n, value, 0, NULL, NULL);
    }
    H5E_END_TRY
    if (found < 0)
        return 0;
    if (!numbers)
        return weir_refuse(err, WEIR_EUSAGE, "option --hdf5.filter: szip takes numbers only; leave it "
                                             "or --derivedtype (h5exerciser) out");
    if (elements == 0 || value[1] <= elements)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "option --hdf5.filter: szip:%u needs chunks of as many elements, and these "
                       "have %" PRIu64 "; make chunks larger or the value smaller",
                       value[1], elements);
}

int hdf5_filters_check(const char *text, uint64_t elements, bool numbers, struct weir_err *err)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    int rc = hdf5_filters_set(list, text, err);

    if (rc == 0)
        rc = check_szip(list, elements, numbers, err);
    H5Pclose(list);
    return rc;
}

void hdf5_filters_count(const struct hdf5_container *c, hid_t dset)
{
    const struct hdf5_state *st = c->st;

    if (st->filter && c->writes && !c->failed && !st->collective_meta &&
        weir_mpi_is_first(st->comm))
        st->s->stats->stored += H5Dget_storage_size(dset);
}
