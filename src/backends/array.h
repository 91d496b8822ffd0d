/* SPDX-License-Identifier: BSD-3-Clause */
/* array.h - the optional part of the contract of a backend: files that hold n-dimensional arrays */
#pragma once

#include "backends/backend.h"
#include "base/clock.h"
#include "base/shape/slab.h"
#include "base/str.h"

/* Types of elements, in memory and, up to the order of bytes, in the file. */
enum weir_elem {
    WEIR_ELEM_BYTE,  /* signed char */
    WEIR_ELEM_INT32, /* signed */
    WEIR_ELEM_INT64,
    WEIR_ELEM_FLOAT32, /* IEEE */
    WEIR_ELEM_FLOAT64,
    /* A record like a C struct, in arrays only. A backend whose files describe their arrays may
     * refuse to open one again. */
    WEIR_ELEM_COMPOUND,
    WEIR_ELEMS
};

/* A member of a compound type: of a simple type, 'at' bytes from the beginning of the record. */
struct weir_member {
    const char *name;
    enum weir_elem elem;
    size_t at;
};

struct weir_type {
    enum weir_elem elem;
    size_t size; /* bytes of a record with its gaps; of simple types 0 or their size */
    const struct weir_member *members;
    int count; /* of members */
};

/* The type and shape of an array. Members and dims belong to the caller, and outlive it. */
struct weir_array_spec {
    struct weir_type type;
    struct weir_shape shape;
    struct weir_shape chunk; /* elements of a chunk in each dimension; rank 0: in one piece */
    const char *const *dims; /* a name for each dimension, where the format has them; NULL: any */
};

/* Memory that is addressed like an array: what lies in it is the slab's elements. */
struct weir_memory {
    struct weir_shape shape;
    struct weir_slab slab;
};

struct weir_attr {
    const char *name;
    enum weir_elem elem;
    uint64_t count; /* elements, at least one */
    void *data;     /* is written; or gets what is read */
};

/* An open file of arrays: first member of the backend's own struct (file_size zeroed bytes,
 * allocated by the core). The core writes all but 'next_at'. */
struct weir_array_file {
    struct weir_session *s;
    const char *path; /* owned by the session */
    bool writes, dry_run;
    bool shared;              /* by all ranks of s->par; else it is this rank's */
    bool collective;          /* transfers are collective: over those ranks */
    int made;                 /* arrays that were made since it was opened */
    struct weir_array *first; /* arrays that are reserved, open or closed; the newest first */
    uint64_t next_at;         /* where the next array begins: for weir_plain_array_make */
};

/* An open array: first member of the backend's own struct (array_size zeroed bytes). The core
 * writes all but 'at'. */
struct weir_array {
    struct weir_array_file *file;
    const char *name; /* owned by the session */
    struct weir_array_spec spec;
    uint64_t elem; /* bytes of an element */
    uint64_t at;   /* first byte in the file: of weir_plain_array_make */
    bool is_reserved; /* only memory for an array of this name */
    bool is_open;
    /* The elements of the next transfer: as many in the file and in memory, in their orders. */
    bool is_selected;
    bool mem_whole;          /* the buffer is in one piece */
    struct weir_slab slab;   /* of the array */
    struct weir_memory mem;  /* of the buffer, also where it is in one piece */
    uint64_t elements;       /* 0: nothing */
    struct weir_array *next; /* in the file */
};

/* Functions return 0, or -1 and err: what was attempted, on what, the reason. None prints. NULL
 * means "cannot" (commit: "nothing to do"). COLLECTIVE: all ranks that share the file enter it
 * together, also a rank that failed before. A rank may fail alone in it; the core agrees
 * afterwards, so such a rank must not leave others waiting inside. LOCAL: touches no other
 * rank. In backends without WEIR_BE_COLLECTIVE_OPEN nothing is collective, and rank 0 opens a
 * file that is to be made before the others do. With file_per_task a file has one rank. */
struct weir_array_ops {
    size_t file_size, array_size;
    bool only_boxes; /* what is selected has no gaps, in the array and in memory */
    /* LOCAL. Refuse a sound spec that the backend cannot keep, before any I/O, the same on all
     * ranks. NULL: none. */
    int (*check)(const struct weir_session *, const struct weir_array_spec *, struct weir_err *);
    /* COLLECTIVE. Flags as of open in struct weir_backend. With WEIR_BE_COLLECTIVE_OPEN the result is
     * agreed on inside (weir_agree_open): nothing else can be done with a file that only some ranks
     * have. */
    int (*open)(struct weir_array_file *, unsigned flags, struct weir_err *);
    int (*close)(struct weir_array_file *, struct weir_err *); /* COLLECTIVE; always frees */
    /* COLLECTIVE. Make array a->name as a->spec says, without fill values: what is not written is
     * not defined. */
    int (*make)(struct weir_array *, struct weir_err *);
    /* COLLECTIVE. Open a->name. *have is what the caller expects and gets what the file says; the
     * core compares. */
    int (*find)(struct weir_array *, struct weir_array_spec *have, struct weir_err *);
    int (*release)(struct weir_array *, struct weir_err *); /* COLLECTIVE. Close an array. */
    /* COLLECTIVE. All arrays, groups and attributes are made, transfers come next. A backend may
     * refuse to make more of them afterwards. */
    int (*commit)(struct weir_array_file *, struct weir_err *);
    /* LOCAL. Prepare transfers of a->slab and a->mem, which are sound. */
    int (*select)(struct weir_array *, struct weir_err *);
    /* COLLECTIVE when file->collective, else LOCAL. Move what is selected; with no elements only
     * take part. Nothing is allocated here but by libraries. */
    int (*move)(struct weir_array *, enum weir_dir, void *buf, struct weir_err *);
    int (*sync)(struct weir_array_file *, struct weir_err *); /* COLLECTIVE. To stable storage. */
    /* LOCAL. Describes an open file, as describe of struct weir_backend. NULL: nothing. */
    void (*describe)(struct weir_array_file *, struct weir_str *out);
    /* COLLECTIVE. Make a group, or open one that is there. Groups have paths ("a/b"); the upper one
     * must be there. A group may stay open until the next group is used, an array is released, or
     * the file closed. NULL: names of arrays cannot have a '/', either. */
    int (*group)(struct weir_array_file *, const char *path, bool makes, struct weir_err *);
    /* COLLECTIVE. object: "/" (the file), or the path of a group. A write makes an attribute, which
     * is new there. A read fails unless type and count are as in attr. */
    int (*move_attr)(struct weir_array_file *, enum weir_dir, const char *object,
                     const struct weir_attr *, struct weir_err *);
};

/* A call of a library whose time is that of the operation begins, and has returned: nothing but the
 * call is between the two. Local. */
static inline void weir_timed_begin(struct weir_session *s)
{
    s->timed.begin_ns = weir_now_ns();
}

static inline void weir_timed_end(struct weir_session *s)
{
    uint64_t end_ns = weir_now_ns();

    s->timed.call_ns += end_ns - s->timed.begin_ns;
    s->timed.exact = true;
}

/* Allocate max(len, least) zeroed bytes with a copy of the name behind them (*copy); one free()
 * releases both. For the session. Local. NULL and err (WEIR_ESETUP). */
void *weir_piece(size_t len, size_t least, const char *name, char **copy, struct weir_err *err);

/* Free a file that is closed, and its arrays; f may be NULL. For the session. Local. */
void weir_array_file_free(struct weir_array_file *f);

/* Bytes of an element. Local. */
uint64_t weir_type_bytes(const struct weir_type *type);

/* "int32", "compound" ... for messages. Local. */
const char *weir_elem_name(enum weir_elem elem);

/* Dimensions, type, members and chunk of an array that any backend could keep. Local. Returns 0, or
 * -1 and err (WEIR_EUSAGE). */
int weir_array_spec_check(const struct weir_array_spec *spec, struct weir_err *err);

/* Check that an existing array has the type and shape that are wanted. Local. Returns 0, or -1
 * and err (WEIR_EIO) with both. */
int weir_array_spec_match(const struct weir_array_spec *have, const struct weir_array_spec *want,
                          struct weir_err *err);

/* For backends whose file is nothing but the arrays, in the order in which they were made. Each
 * begins at the next multiple of WEIR_ARRAY_ALIGN bytes, its last dimension varies fastest, and
 * elements have the machine's byte order. They implement check, make and find of struct
 * weir_array_ops. 'make' sets a->at of a new array, 'find' that of one that is opened, in the same
 * order, with its old shape, in a file of 'size' bytes. Local. Errors of make and find: not that
 * order, or a file of more than 2^63 - 1 bytes (WEIR_EUSAGE); the file is too short (WEIR_EIO). */
int weir_plain_array_check(const struct weir_session *s, const struct weir_array_spec *spec,
                           struct weir_err *err);
int weir_plain_array_make(struct weir_array *a, struct weir_err *err);
int weir_plain_array_find(struct weir_array *a, uint64_t size, struct weir_err *err);
#define WEIR_ARRAY_ALIGN 8u
