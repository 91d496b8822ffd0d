/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-file.h - a session with the service, its open files, and their transfers in flight
 *
 * What is done with a file (--s3.object=file: a file is an object):
 *
 *   open for reading       HEAD: the object is there, its size.
 *   read                   GET of the range at any offset; of the object where that is the range. Short at its end.
 *   write, a file a task   One PUT where a transfer is the whole object; else an upload, a part for each transfer, or of
 *                          --s3.part bytes that are gathered from transfers in order. Complete at close.
 *   write, a shared file   One upload of all tasks that share it, parts in any order. Complete at close, which is collective.
 *   write nothing          A PUT of no bytes at close.
 *   a file that is there   The new object takes its place when it is complete; no byte of the old one stays.
 *   refused                Writing some places of a file that is there, reading what is written before it is complete.
 *
 * With --s3.object=transfer a file is all objects whose keys are its own, '/', and an offset in 16 hexadecimal digits:
 *
 *   open for reading       HEAD of the first object (else LIST): its size is that of the others, but for the last.
 *   read                   GET of the object that has the offset, or of a range in it.
 *   write                  PUT of an object, at any offset, any number of times.
 *   size                   Offset and size of the last object: LIST, as removal, which deletes all of them and no other key (s3-names.c).
 */
#ifndef WEIR_BACKENDS_S3_S3_FILE_H
#define WEIR_BACKENDS_S3_S3_FILE_H

#include <string.h>

#include "backends/s3/s3-parts.h"
#include "backends/s3/s3-upload.h"

#define S3_OFFSET_DIGITS 16 /* hexadecimal, of the key of an object that is a transfer */

enum s3_way {
    S3_READS,
    S3_WHOLE,    /* one PUT */
    S3_PARTS,    /* an upload: a transfer is a part */
    S3_GATHERED, /* an upload, or one PUT: transfers are copied into parts */
    S3_PIECES    /* a transfer is an object; written, read, or both */
};

struct s3_file;

/* A call and what it is for. */
struct s3_flight {
    struct s3_call call; /* owner: this */
    struct s3_file *file;
    struct weir_request *request; /* of the queue, or NULL */
    bool flying;                  /* in the queue */
    uint64_t number;              /* of a part, from 1; 0: it is none */
    size_t len;                   /* bytes of the transfer, or of the part */
    unsigned char *part;          /* the memory of one that is gathered */
    struct weir_str url;          /* of an object that is a transfer */
    struct s3_flight *next;
};

/* Transfers in flight. Each flight is idle, busy, or has failed and keeps the reason. */
struct s3_queue {
    struct s3_flight *flights; /* depth */
    struct s3_flight *idle, *failed;
    struct weir_request *done, *last_done; /* not given back yet */
    int depth, busy;
};

/* Memory of parts that are gathered: flights with a buffer of 'size' bytes each. */
struct s3_pool {
    struct s3_flight *idle;
    size_t size;
    int busy;
};

/* A session: its priv. */
struct s3 {
    struct s3_service service;
    struct weir_service_stats stats;
    struct s3_line *line;
    struct s3_queue queue;
    struct s3_pool pool;
    struct s3_flight alone; /* of transfers that are not in the queue */
    struct weir_str spare;  /* memory for the URL of the next file */
    struct weir_str bucket, key; /* for a moment */
};

struct s3_file {
    struct weir_file base;
    enum s3_way way;
    bool writes, shared, creates, exclusive;
    const struct weir_par *sharers; /* the tasks that share it */
    bool written;        /* bytes of it are at the service */
    bool failed;         /* a write has */
    struct weir_str url; /* of the object, or of the keys before '/' */
    uint64_t size;       /* that can be read */
    uint64_t piece;      /* bytes of an object that is a transfer */
    struct s3_parts parts;
    struct s3_upload *upload;
    struct s3_flight *filling, *broken; /* gathered: the part that grows; the first that failed */
    uint64_t begin;                     /* of the part that grows */
    int flying;                         /* gathered parts */
};

static inline struct s3 *s3_of(const struct weir_session *s)
{
    return s->priv;
}

/* ---- s3-open.c ---- */

/* As open and close of struct weir_backend. */
int s3_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f, struct weir_err *err);
int s3_close(struct weir_file *f, struct weir_err *err);
/* Begin the upload of a file. As s3_upload_begin. 0, or -1 and err. */
int s3_file_upload(struct s3_file *f, struct weir_err *err);

/* ---- s3-move.c: a transfer as a call ---- */

/* Make fl->call what moves io. Returns 0: it is to be started; 1: nothing is left to do, *n bytes were moved; -1 and
 * err (WEIR_EIO). Waits where the same part is in flight. Local. */
int s3_move_begin(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, ssize_t *n, struct weir_err *err);
/* The call has ended. Bytes moved; or -1, and the reason is that of the call. A request that was repeated, and finds that the
 * object is there, looks whether it has made it. Local. */
ssize_t s3_move_end(struct s3_flight *fl);
/* As xfer of struct weir_backend. */
ssize_t s3_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err);
/* Make fl->call a PUT of these bytes. NULL as data: of none. */
void s3_put(struct s3_file *f, const char *url, const void *data, size_t len, struct s3_flight *fl);

/* ---- s3-queue.c ---- */

/* As in struct weir_backend. */
int s3_queue(struct weir_session *s, int depth, struct weir_err *err);
int s3_submit(struct weir_request *r, struct weir_err *err);
int s3_complete(struct weir_file *f, int least, int most, struct weir_request **done, struct weir_err *err);
int s3_reason(const struct weir_request *r, struct weir_err *err);
void s3_queue_end(struct s3_queue *q); /* free it; harmless on zeros */

/* Take back calls that have ended, of any file, after waiting for 'least' of those in flight. Local. */
void s3_collect(struct s3 *s3, int least);
/* Wait until this part of the file is not in flight. Local. */
void s3_wait_for_part(const struct s3_file *f, uint64_t number);

/* ---- s3-gather.c: parts that are gathered from transfers ---- */

/* Memory for so many parts at a time. -1 and err (WEIR_ESETUP). Local. */
int s3_gather_reserve(struct s3_pool *p, size_t size, int n, struct weir_err *err);
void s3_gather_free(struct s3_pool *p); /* none is in flight; harmless on zeros */
/* Copy a transfer, and send what is full. 0, or -1 and err (WEIR_EIO). Local. */
int s3_gather_add(struct s3_file *f, const struct weir_io *io, struct weir_err *err);
/* The call of a part has ended. Local. */
void s3_gather_landed(struct s3_flight *fl);
/* Send the last part and wait for all of the file; with ok false only wait. 0, or -1 and err. Local. */
int s3_gather_end(struct s3_file *f, bool ok, struct weir_err *err);

/* ---- s3-pieces.c: objects that are a transfer ---- */

/* Is it an offset, as keys of these objects end? */
static inline bool s3_is_offset(const char *name)
{
    return strlen(name) == S3_OFFSET_DIGITS && strspn(name, "0123456789abcdef") == S3_OFFSET_DIGITS;
}
/* As s3_move_begin. */
int s3_piece_begin(struct s3_file *f, const struct weir_io *io, struct s3_flight *fl, ssize_t *n, struct weir_err *err);
/* Find the size of the objects of a file. 0, or -1 and err (WEIR_EIO): there is none. Local. */
int s3_piece_find(struct s3_file *f, struct weir_err *err);
/* Put the object of no bytes that stands for an empty file. 0, or -1 and err. Local. */
int s3_piece_empty(struct s3_file *f, struct weir_err *err);

#endif
