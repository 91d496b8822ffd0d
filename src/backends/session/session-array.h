/* SPDX-License-Identifier: BSD-3-Clause */
/* session-array.h - files of n-dimensional arrays, for every backend that has them */
#pragma once

#include "backends/array.h"

/* A function is collective over s->par->comm (not with file_per_task) unless it says LOCAL. Its
 * result is agreed on: all ranks return the same, with the message of the lowest rank that failed.
 * A backend that cannot: WEIR_EUSAGE, "<name> cannot ...". Errors of the system or a library:
 * WEIR_EIO. In a dry run arguments are checked and nothing else happens.
 *
 * With access.own_results only weir_arrays_open agrees, and weir_array_open where memory was not
 * reserved. Other functions return what happened on this rank. A rank that has
 * failed is missed in a transfer, in a sync, in the close of the file, and with collective_metadata
 * in any. It still takes part in sync and close; before a transfer the caller agrees
 * (weir_agree_call). Backends with a 'commit' also agree on what is made and opened.
 *
 * Order: open a file; make or open arrays, groups, attributes; commit; put and get; sync; close. */

/* Check the spec, and that the backend can keep such an array. LOCAL, before any I/O. */
int weir_session_can_array(const struct weir_session *s, const struct weir_array_spec *spec,
                           struct weir_err *err);

/* Check that the backend can move these elements of an array, from and to this memory. Arguments
 * as for weir_array_move. LOCAL, before any I/O. */
int weir_session_can_select(const struct weir_session *s, const struct weir_slab *slab,
                            const struct weir_memory *mem, struct weir_err *err);

/* Reserve memory for the next weir_arrays_open of this path, and for n arrays of these names in
 * it. LOCAL: where memory is out on one rank, the caller can say so before the others are in a
 * call that needs this rank. Released by the close of the file, or with the session. 0, or -1
 * and err (WEIR_ESETUP). */
int weir_arrays_reserve(struct weir_session *s, const char *path, const char *const *names, int n,
                        struct weir_err *err);

/* Open a file of arrays; flags as for weir_session_open. Several may be open at once. Transfers are
 * collective if those of the session are and the file is shared. *out is owned by the session until
 * weir_arrays_close. */
int weir_arrays_open(struct weir_session *s, const char *path, unsigned flags,
                     struct weir_array_file **out, struct weir_err *err);

/* Close the open arrays of a file, and the file; both are freed, also on failure. NULL: nothing. */
int weir_arrays_close(struct weir_array_file *f, struct weir_err *err);

/* Write the description of all arrays, groups and attributes made so far. Before the first
 * transfer, and again after others were made. */
int weir_arrays_commit(struct weir_array_file *f, struct weir_err *err);

/* Flush the file to stable storage. */
int weir_arrays_sync(struct weir_array_file *f, struct weir_err *err);

/* Append facts of an open file for people, lines "key = value\n": hints, where they were asked for
 * (showHints). LOCAL. */
void weir_arrays_describe(struct weir_array_file *f, struct weir_str *out);

/* Make a group, "a" or "a/b", whose parent must exist; with 'makes' false open an existing one, for
 * programs that measure it. It may stay open until the next array or group is closed. */
int weir_arrays_group(struct weir_array_file *f, const char *path, bool makes,
                      struct weir_err *err);

/* Write a new attribute of the file ("/") or of a group, or read one. Every rank gives the same
 * values; every rank gets them. */
int weir_arrays_move_attr(struct weir_array_file *f, enum weir_dir dir, const char *object,
                          const struct weir_attr *attr, struct weir_err *err);

/* Make an array, "name" or "group/name", that is not there yet, or open one that is there: 'spec'
 * refuses another type or shape. *out is owned by the session until weir_array_close or
 * weir_arrays_close. */
int weir_array_open(struct weir_array_file *f, const char *name, bool makes,
                    const struct weir_array_spec *spec, struct weir_array **out,
                    struct weir_err *err);

/* Close an array; NULL: nothing. The session keeps the struct until the file is closed. */
int weir_array_close(struct weir_array *a, struct weir_err *err);

/* Write or read a slab of an array. mem: where its elements are in buf, as many and in the same
 * order; NULL: in one piece. buf must be memory that can be written also by a write (libraries
 * change the order of bytes in place and change it back). Collective if file->collective, else
 * LOCAL. There a rank with nothing to move takes part with an empty slab (buf may be NULL). One
 * with wrong arguments takes part with nothing, and returns the error. The result is this
 * rank's own. The selection of a call is kept: the next one with the same slab and mem only
 * moves data. Returns 0, or -1 and err that names array, file and slab. */
int weir_array_move(struct weir_array *a, enum weir_dir dir, const struct weir_slab *slab,
                    const struct weir_memory *mem, void *buf, struct weir_err *err);

/* Select without moving anything, so that the first transfer does not pay for it. LOCAL. */
int weir_array_select(struct weir_array *a, const struct weir_slab *slab,
                      const struct weir_memory *mem, struct weir_err *err);
