/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-descriptor.c - what is known of the backend without its library */
#include "backends/hdf5/hdf5-descriptor.h"

static const char *const filters[] = { "deflate", "shuffle,deflate:6", "szip", "zstd", NULL };

#define O struct hdf5_options
const struct weir_opt hdf5_opts[] = {
    WEIR_MPI_OPTIONS(O),
    OPT_FLAG(0, "collectiveMetadata", NULL, O, collective_metadata, "Collective metadata"),
    OPT_FLAG(0, "individualDataSets", NULL, O, individual, "Dataset per task (not implemented)"),
    OPT_SIZE(0, "setAlignment", NULL, O, alignment, "1", "SIZE",
             "Alignment of objects of at least SIZE bytes to multiples of SIZE", .min = 1,
             .max = INT64_MAX),
    OPT_FLAG(0, "noFill", NULL, O, no_fill, "No fill values"),
    OPT_SIZE(0, "chunkSize", NULL, O, chunk, "0", "N",
             "Chunk of a dataset, elements of 8 bytes (0: contiguous)", .min = 0, .max = INT64_MAX),
    OPT_STR(0, "filter", NULL, O, filter, NULL, "NAME[:N],...",
            "Filters of chunks, in order (without chunkSize a chunk is a transfer)",
            .suggestions = filters),
    OPT_SIZE(0, "page-buffer", NULL, O, page_buffer, "0", "SIZE",
             "Page buffer of a file of one task (HDF5 1.14; 0: none)", .min = 0, .max = INT64_MAX),
    OPT_FLAG(0, "subfiling", NULL, O, subfiling, "File in subfiles (HDF5 1.14)"),
    OPT_END
};
#undef O

const struct weir_backend weir_backend_hdf5 = { HDF5_DESCRIPTOR, .plugin = "hdf5" };
