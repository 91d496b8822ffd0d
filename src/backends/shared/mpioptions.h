/* SPDX-License-Identifier: BSD-3-Clause */
/* mpioptions.h - the options that every backend on MPI-IO has */
#pragma once

#include "base/options/option.h"

/* First member, 'mpi', of the options of each. */
struct weir_mpi_options {
    const char *hints_file;
    bool show_hints;
};

/* Their rows; O: the struct of the backend. */
#define WEIR_MPI_OPTIONS(O)                                                                        \
    OPT_STR(0, "hintsFileName", NULL, O, mpi.hints_file, NULL, "FILE",                             \
            "File of MPI hints", .flags = WEIR_OPT_READS),                                \
        OPT_FLAG(0, "showHints", NULL, O, mpi.show_hints,                                          \
                 "Output of the hints given and in effect", .flags = WEIR_OPT_NEUTRAL)
