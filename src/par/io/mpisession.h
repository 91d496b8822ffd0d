/* SPDX-License-Identifier: BSD-3-Clause */
/* mpisession.h - the state of a session in the MPI-IO library below its backend, and its hints */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/log.h"
#include "par/comm.h"
#include "par/io/mpifile.h"

/* First member of the private state of a backend on MPI-IO: namespace operations rely on it. */
struct weir_mpi_session {
    MPI_Info info; /* the hints given; valid when has_info */
    bool has_info;
    bool limited;   /* a rank may make files of a certain length only (RLIMIT_FSIZE) */
    bool warned;    /* of an errno that hid nothing */
    int comm_errno; /* errno that messages between ranks leave on success; 0: none, or not needed */
    enum weir_mpi_drivers drivers;
    /* Remove a file, where the library above keeps it in several ones; NULL: MPI_File_delete. Local. */
    int (*remove)(struct weir_mpi_session *m, const char *path, struct weir_err *err);
};

/* Read the hints of the environment and of hints_file (NULL: none); with 'messages' also find out
 * which errno messages leave. Errors of MPI_File_open are returned from now on. Collective over
 * par->comm. Returns 0, or -1 and err on every rank; call weir_mpi_session_end in both cases. */
int weir_mpi_session_begin(struct weir_mpi_session *m, const struct weir_par *par,
                           const struct weir_log *log, const char *hints_file, bool messages,
                           struct weir_err *err);

void weir_mpi_session_end(struct weir_mpi_session *m);


/* ---- mpihints.c: hints from the environment and from a file ---- */

enum weir_hint_kind {
    WEIR_HINT_NONE,    /* no hint: a comment, another variable */
    WEIR_HINT_MPI,     /* IOR_HINT__MPI__key=value or IOR_HINT__GPFS__key=value */
    WEIR_HINT_UNKNOWN, /* IOR_HINT of another kind, or without key or value: left out with a note
                        */
    WEIR_HINT_TOO_LONG /* key or value does not fit into an MPI_Info */
};

/* A hint found: pieces of the text that was read, blanks around them dropped. */
struct weir_hint {
    const char *key, *value;
    size_t key_len, value_len;
};

/* Read one line or environment variable of len bytes. The value begins after the first '='.
 * Local. */
enum weir_hint_kind weir_mpihints_parse(const char *line, size_t len, struct weir_hint *out);

/* Check that the value of a hint is a number that libraries can take. Hints with other names
 * pass. Local. Returns 0, or -1 and err (WEIR_EUSAGE) without the name of the hint. */
int weir_hint_check(const char *key, const char *value, struct weir_err *err);

/* The hints in rank 0's environment, then those in its file 'path' (NULL: none), which win. Every
 * rank gets the same. One note for all that are left out. *out is made also when there are none;
 * free it with MPI_Info_free. Collective over par->comm. Returns 0, or -1 and the same err on
 * every rank (WEIR_ESETUP: no such file; WEIR_EUSAGE: too long, or a value that weir_hint_check
 * refuses). */
int weir_mpihints_read(const struct weir_par *par, const struct weir_log *log, const char *path,
                       MPI_Info *out, struct weir_err *err);
