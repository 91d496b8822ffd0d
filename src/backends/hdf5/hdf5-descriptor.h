/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-descriptor.h - what is known of the backend without its library: name and options */
#pragma once

#include "backends/backend.h"
#include "backends/shared/mpioptions.h"

struct hdf5_options {
    struct weir_mpi_options mpi;
    bool collective_metadata, individual, no_fill, subfiling;
    int64_t alignment; /* bytes: of the objects that have at least as many */
    int64_t chunk;     /* elements, 0: contiguous */
    int64_t page_buffer; /* bytes, 0: none */
    const char *filter;  /* of chunks, NULL: none */
};

extern const struct weir_opt hdf5_opts[];

/* The members of struct weir_backend that the descriptor and the plugin share. */
#define HDF5_DESCRIPTOR                                                                            \
    .abi = WEIR_BACKEND_ABI, .name = "HDF5",                                                       \
    .brief = "Parallel HDF5: one dataset for each segment", .prefix = "hdf5.", .opts = hdf5_opts,  \
    .opt_size = sizeof(struct hdf5_options)
