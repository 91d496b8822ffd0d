/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-objects.h - objects in parts, lists of keys, and what an open file has in flight
 *
 * Requests for a file with --s3.object=file (a file is an object):
 *
 *   open for reading:      HEAD: The object exists, and has this size.
 *   read:                  GET of the range at any offset, or of the object. Short at its end.
 *   write, a file a task:  One PUT where a transfer is the whole object. Else an upload, a part for each transfer, or of
 *                          --s3.part bytes, coalesced from transfers in order. Complete at close.
 *   write, a shared file:  One upload of all tasks that share it, parts in any order. Complete at close, which is collective.
 *   write nothing:         A PUT of no bytes at close.
 *   an existing file:      The new object takes its place when it is complete.
 *   refused:               Writing parts of an existing file, reading an incomplete one.
 *
 * With --s3.object=transfer a file is all objects whose keys are its own, '/', and an offset in 16 hexadecimal digits:
 *
 *   open for reading:      HEAD of the first object (else LIST): All but the last have its size.
 *   read:                  GET of the object that has the offset, or of a range in it.
 *   write:                 PUT of an object, at any offset, any number of times.
 *   head, delete:          HEAD and DELETE of the object that has the offset.
 *   list:                  LIST of S3_KEYS_A_REQUEST objects from that one on: One page.
 *   size:                  Offset and size of the last object: LIST, as removal. That deletes all
 *                          of them and no other key (s3-namespace.c).
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "backends/s3/s3-request.h"

/* ---- s3-parts.c: how a file becomes parts of an object. Pure: numbers only ---- */

/* Limits of the protocol. The least part is an option, because services differ in it. */
#define S3_PARTS_MOST 10000u
#define S3_PUT_MOST (UINT64_C(5) << 30)    /* bytes of a part, or of an object that is no upload */
#define S3_OBJECT_MOST (UINT64_C(5) << 40) /* bytes of an object */

/* Rule by which a file becomes parts: all have the same size but the last. So the offset of
 * bytes says which part they belong to, in any order of writes. */
struct s3_parts {
    uint64_t size;  /* bytes of each part but the last */
    uint64_t n;     /* parts of the whole object, 1 with 'single'; 0: not known */
    uint64_t bytes; /* of the whole object; 0 with n == 0: not known */
    bool coalesced; /* transfers are copied into parts, in ascending order; false: a transfer is a part */
    bool single;    /* the whole object, or each of --s3.object=transfer, is one PUT: no upload */
};

/* Find the parts of files that are written with these options and this geometry. Impossible ones: WEIR_EUSAGE, with
 * possible values. Local; all ranks get the same result. 0, or -1 and err. Zeros where files are only read. */
int s3_parts_of(const struct weir_session *s, const struct weir_extent *x, struct s3_parts *out,
                struct weir_err *err);

/* True when several tasks write the file, by its extent or else the access. Local, the same on all. */
static inline bool s3_is_shared(const struct weir_session *s, const struct weir_extent *x)
{
    return x->sharers ? x->sharers->size > 1 : !s->access.file_per_task && s->access.tasks > 1;
}

/* The part, from 1, that has the bytes at 'off'. */
static inline uint64_t s3_part_at(const struct s3_parts *p, uint64_t off)
{
    return off / p->size + 1;
}

/* ---- s3-list.c: keys below a prefix, and the removal of many ---- */

#define S3_KEYS_A_REQUEST 1000 /* that a service lists, and deletes, at most */

/* Takes a key and its size in bytes; both are valid in that call only. 0, or -1 and err, which ends the listing. */
typedef int s3_take_fn(void *mine, const char *key, uint64_t size, struct weir_err *err);

/* Call 'take' for each key of a bucket that begins with prefix, in byte order. most: at most this
 * number (one request, up to S3_KEYS_A_REQUEST); 0: all. Local. 0, or -1 and err
 * (WEIR_EIO: the request or its answer; WEIR_ESETUP: no memory). */
int s3_list(struct s3_client *client, const char *bucket, const char *prefix, int most,
            s3_take_fn *take, void *mine, struct weir_err *err);

/* Append the query of a request that lists keys. token: of the page, "" for the first. Local. */
void s3_list_query(struct weir_str *query, const char *prefix, const char *token, int most);

/* Check that an answer is a list of keys that begin with prefix and come after 'after' in the order
 * of bytes. Other requests of the client go on. Local. 0, or -1 and err. */
int s3_list_check(struct s3_client *client, const struct weir_str *answer, const char *prefix,
                  const char *after, struct weir_err *err);

/* True for a key that is meant. rest: the text after the prefix. */
typedef bool s3_wanted_fn(const char *rest);

/* Delete the keys that begin with prefix and that 'wanted' takes, S3_KEYS_A_REQUEST in a request;
 * others stay. Local. 0, or -1 and err (WEIR_EIO: the first key that the service does not delete
 * and its reason). */
int s3_delete_below(struct s3_client *client, const char *bucket, const char *prefix,
                    s3_wanted_fn *wanted, struct weir_err *err);

/* ---- s3-upload.c: an object that is written in parts ---- */

struct s3_upload;

struct s3_file;

/* Begin the upload of f, whose object, parts, shared, sharers and exclusive are the same on all
 * its ranks. Only rank 0 of the sharers asks the service, and all of them get its id.
 * 'exclusive': fail when the object exists, at once, and at the end by If-None-Match. Allocates
 * memory for the parts. Collective over the sharers of a shared file, with the same result on
 * all of them. 0, or -1 and err. */
int s3_upload_begin(struct s3_file *f, struct weir_err *err);
/* Make c the call that sends part 'number', from 1. query: memory for its text, which stays as it
 * is until the call is done. Local. 0, or -1 and err: no memory, or no object has such a part. */
int s3_upload_part(const struct s3_upload *u, uint64_t number, const void *data, size_t len,
                   struct s3_call *c, struct weir_str *query, struct weir_err *err);
/* Keep the etag of a part that was sent; a later one of the same part replaces it. Local. 0, or -1
 * and err: no memory, or the service gave none. */
int s3_upload_keep(struct s3_upload *u, uint64_t number, size_t len, const struct s3_answer *a,
                   struct weir_err *err);
/* End the upload, with no call of it in flight, and free u. When all ranks are ok and all parts are there, it becomes an
 * object; also when parts are missing at its end, in order, and access.stops is the reason. Otherwise it is removed. A rank
 * that is not ok makes no error here. Missing parts are an error, WEIR_EINTR, which gives way to those of others.
 * Collective over the sharers, with the same result on all of them. 0, or -1 and err. */
int s3_upload_end(struct s3_upload *u, bool ok, struct weir_err *err);

/* ---- s3-objects.c: transfers of an open file, as calls ---- */

#define S3_OFFSET_DIGITS 16 /* hexadecimal, of the key of an object that is a transfer */

enum s3_way {
    S3_READS,
    S3_WHOLE,    /* one PUT */
    S3_PARTS,    /* an upload: a transfer is a part */
    S3_COALESCED, /* an upload, or one PUT: transfers are copied into parts */
    S3_SPLIT     /* a transfer is an object; written, read, or both */
};

struct s3_transfer;

/* A call in flight and what it is for. */
struct s3_transfer {
    struct s3_call call; /* owner: this */
    struct s3_file *file;
    void (*landed)(struct s3_transfer *); /* what s3_collect calls when it is done */
    struct weir_request *request;         /* of the queue */
    bool flying;                          /* in the queue */
    uint64_t number;                      /* of a part, from 1; 0: it is none */
    size_t len;                           /* bytes of the transfer, or of the part */
    unsigned char *part;                  /* memory for one that is coalesced; NULL: none */
    struct weir_str text;                 /* URL of an object that is a transfer, or a query */
    struct weir_str after, answer;        /* of a list: the key before it; the response */
    struct s3_transfer *next, *also;      /* in a list of the queue; in that of all */
};

static inline void s3_transfer_end(struct s3_transfer *tr)
{
    weir_str_free(&tr->text);
    weir_str_free(&tr->after);
    weir_str_free(&tr->answer);
    free(tr->part);
}

static inline void s3_push(struct s3_transfer **list, struct s3_transfer *tr)
{
    tr->next = *list;
    *list = tr;
}

static inline struct s3_transfer *s3_pop(struct s3_transfer **list)
{
    struct s3_transfer *tr = *list;

    if (tr)
        *list = tr->next;
    return tr;
}

/* Transfers of a session. Each one is idle, busy, a part that grows, or has failed and keeps the
 * reason. */
struct s3_queue {
    struct s3_transfer *all, *idle, *failed;
    struct weir_request *done; /* not given back yet */
    size_t part;               /* bytes of a part that is coalesced */
    int depth;                 /* requests in flight at most, and parts */
    int busy, parts;           /* requests and parts in flight now */
};

/* A session: its priv. */
struct s3 {
    struct s3_service service;
    struct weir_service_stats stats;
    struct s3_client *client;
    struct s3_queue queue;
    struct s3_transfer single;   /* of transfers that are not in the queue */
};

struct s3_file {
    struct weir_file base;
    enum s3_way way;
    bool writes, shared, creates, exclusive;
    const struct weir_par *sharers; /* the tasks that share it */
    bool written;        /* bytes of it are at the service */
    bool failed;         /* a write has */
    struct weir_str bucket, key; /* of the object; S3_SPLIT: what its keys begin with */
    uint64_t size;       /* that can be read */
    uint64_t object_len; /* bytes of an object that is a transfer */
    struct s3_parts parts;
    struct s3_upload *upload;
    struct s3_transfer *filling, *broken; /* coalesced: the growing part; the first that failed */
    uint64_t begin;                     /* of the part that grows */
    int flying;                         /* coalesced parts */
};

static inline struct s3 *s3_of(const struct weir_session *s)
{
    return s->priv;
}

/* True for an offset, with which keys of objects of one transfer end. */
static inline bool s3_is_offset(const char *name)
{
    return strlen(name) == S3_OFFSET_DIGITS && strspn(name, "0123456789abcdef") == S3_OFFSET_DIGITS;
}

/* Take an idle transfer, or a new one; with 'part' it has memory for a part. Put it back with
 * s3_push. NULL and err (WEIR_ESETUP). Local. */
struct s3_transfer *s3_take(struct s3_queue *q, bool part, struct weir_err *err);
/* Free all transfers, of which none is in flight; harmless on zeros. */
void s3_queue_end(struct s3_queue *q);
/* Make tr->call what moves io, of a file that is not coalesced. Returns 0: it is to be started; 1:
 * nothing is left to do, and 0 bytes are moved; -1 and err (WEIR_EIO). Waits where the same part is
 * in flight. Local. */
int s3_move_begin(struct s3_file *f, const struct weir_io *io, struct s3_transfer *tr,
                  struct weir_err *err);
/* The call has ended. Bytes moved; or -1, and the reason is that of the call. A request that was repeated, and finds that the
 * object is there, looks whether it has made it. Local. */
ssize_t s3_move_end(struct s3_transfer *tr);
/* Send the call and wait for it. As s3_move_end, with err. Local. */
ssize_t s3_move_now(struct s3_transfer *tr, struct weir_err *err);
/* Make tr->call a PUT of these bytes. NULL as data: of none. */
void s3_put(struct s3_file *f, const char *key, const void *data, size_t len,
            struct s3_transfer *tr);
/* Put the object of no bytes that stands for an empty file. 0, or -1 and err. Local. */
int s3_put_empty(struct s3_file *f, struct weir_err *err);
/* Find the size of a file that is read, or that of its objects that are a transfer each. 0, or -1
 * and err (WEIR_EIO): there is none. Local. */
int s3_find_size(struct s3_file *f, struct weir_err *err);
/* Take back calls that have ended, of any file, after waiting for 'least' of those in flight. Local. */
void s3_collect(struct s3 *s3, int least);

/* ---- s3-coalesce.c: parts that are coalesced from transfers ---- */

/* Copy a transfer, and send what is full. 0, or -1 and err (WEIR_EIO). Local. */
int s3_coalesce_add(struct s3_file *f, const struct weir_io *io, struct weir_err *err);
/* Send the last part and wait for all of the file; with ok false only wait. 0, or -1 and err. Local. */
int s3_coalesce_end(struct s3_file *f, bool ok, struct weir_err *err);

/* ---- s3-session.c: as in struct weir_backend ---- */

int s3_open(struct weir_session *s, const char *path, unsigned flags, struct weir_file *f, struct weir_err *err);
int s3_close(struct weir_file *f, struct weir_err *err);
ssize_t s3_xfer(struct weir_file *f, const struct weir_io *io, struct weir_err *err);
int s3_queue(struct weir_session *s, int depth, struct weir_err *err);
int s3_submit(struct weir_request *r, struct weir_err *err);
int s3_complete(struct weir_file *f, int least, int most, struct weir_request **done, struct weir_err *err);
int s3_reason(const struct weir_request *r, struct weir_err *err);

/* ---- s3-namespace.c: names of objects; directories are in names only ---- */

/* Requests of each, where nothing fails:
 *   mkdir:   None; with --s3.markers a PUT of an object 'NAME/'.
 *   rmdir:   LIST of two keys, ENOTEMPTY where one is not the marker; DELETE of an existing marker.
 *   unlink:  DELETE, which succeeds also where nothing is; --s3.object=transfer: LIST, and POST of 1000 keys each,
 *            of those only that end in an offset.
 *   stat:    HEAD; where there is no such object, LIST of one key below the name.
 *   exists:  Like stat; --s3.object=transfer: LIST of one key.
 *   size:    HEAD; --s3.object=transfer: LIST of all objects of the file.
 *   mknod:   PUT of no bytes; --s3.object=transfer: at the offset 0.
 *   syncfs:  None: a service has stored what it has accepted. */
extern const struct weir_ns s3_names;
