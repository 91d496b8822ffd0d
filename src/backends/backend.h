/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.h - the contract of a backend: one header to read before writing one */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/err.h"
#include "base/gpu/gpu.h"
#include "base/hist.h"
#include "base/log.h"
#include "base/options/option.h"
#include "base/str.h"
#include "par/comm.h"

#define WEIR_BACKEND_ABI 21

struct weir_array_ops;

/* The operation of a transfer. The last three move no data, and are for backends with
 * WEIR_BE_OBJECTS: requests for the object at io->off. LIST: the names of objects from this one on,
 * as many as one answer has. */
enum weir_dir {
    WEIR_DIR_WRITE,
    WEIR_DIR_READ,
    WEIR_DIR_LIST,
    WEIR_DIR_HEAD,
    WEIR_DIR_DELETE,
    WEIR_DIRS
};

/* "write", "read" and so on (session/complete.c). */
extern const char *const weir_dir_names[WEIR_DIRS];

/* Flags of open. An existing file is opened unless CREATE is set too. */
enum {
    WEIR_OPEN_READ = 1u << 0,
    WEIR_OPEN_WRITE = 1u << 1,
    WEIR_OPEN_CREATE = 1u << 2, /* make it when it is not there */
    WEIR_OPEN_TRUNC = 1u << 3,  /* empty it when it is */
    WEIR_OPEN_EXCL = 1u << 4    /* with CREATE: fail when it is there */
};

/* The way in which the files of a session are used. Constant for the session, which keeps a copy. */
struct weir_access {
    bool file_per_task; /* each task has a file of its own: no collective call on it */
    bool collective;    /* -c: transfers are collective over par->comm */
    bool collective_metadata; /* so are calls about metadata, where the library has the choice */
    bool own_results; /* of arrays: the caller agrees (backends/session/session-array.h) */
    bool random;        /* offsets are not ascending */
    bool writes_ascend; /* but those of writes are, also where 'random' */
    bool sync_each;     /* -Y */
    bool single_try;    /* -x: no retry after a short transfer */
    bool dry_run;
    /* The program makes up the names of its files: only regular files may be there, and links are
     * not followed. Names that the user gave are. */
    bool own_names;
    bool queued;          /* the caller has several transfers in flight where the backend has a queue */
    int depth;            /* transfers of a task in flight at most; 0: as the backend does */
    const char *in_place; /* options that leave an existing file in its place; NULL: there are none */
    const char *partly;   /* the option by which a file gets new bytes in some places only; NULL: each is written whole */
    const char *stops;    /* the option by which a task may end before all of its file is written; NULL: none */
    bool only_reads;      /* no file is opened for writing */
    bool deletes;         /* objects of transfers are deleted, so a file may be left with none */
    bool directories;     /* directories are measured: made, looked at and removed for themselves */
    bool only_new;        /* set by the engine: no file that is made may be there before (--existing=fail). A backend that
                           * can make that a condition of a write does */
    int tasks, nodes;
};

/* The geometry of a file, where it is known before open: segments of one block for each task,
 * blocks of transfers. All zero: not known. */
struct weir_extent {
    uint64_t transfer, block, segments; /* bytes, bytes, count */
    int task;                           /* whose blocks are touched */
    uint64_t file_bytes;                /* expected bytes of the file */
    /* The tasks that write the file together, which open and close it collectively over this; their blocks have different
     * lengths with block 0, each of whole transfers. NULL: as the access says. For backends with WEIR_BE_OBJECTS; others
     * need no agreement on a file, and do not look at it. */
    const struct weir_par *sharers;
};

/* Bytes of a segment of a file: the blocks of all tasks that share it. Local. */
static inline uint64_t weir_segment_bytes(const struct weir_access *a, const struct weir_extent *x)
{
    return a->file_per_task ? x->block : x->block * (uint64_t)a->tasks;
}

/* The backend call that this rank is in, for the watchdog, which is another thread: it copies what
 * the pointers show, and then compares 'version' with before. To note a call costs a few stores;
 * no clock is read. */
struct weir_call {
    const char *what; /* the operation, where io is NULL */
    const char *path;
    const struct weir_io *io; /* of a transfer */
    uint64_t version;         /* odd in a call; grows with each */
};

static inline void weir_call_begin(struct weir_call *c)
{
    __atomic_store_n(&c->version, (c->version + 1) | 1, __ATOMIC_RELEASE);
}

static inline void weir_call_end(struct weir_call *c)
{
    __atomic_store_n(&c->version, (c->version + 1) & ~1ull, __ATOMIC_RELEASE);
}

static inline void weir_call_name(struct weir_call *c, const char *what, const char *path)
{
    c->what = what;
    c->path = path;
    c->io = NULL;
    weir_call_begin(c);
}

static inline void weir_call_move(struct weir_call *c, const char *path, const struct weir_io *io)
{
    c->path = path;
    c->io = io;
    weir_call_begin(c);
}

/* Return the number of requests that a queue submits at once: as asked, but at most a quarter
 * of 'depth', so that the device always has work. */
static inline int weir_queue_batch(int depth, int asked)
{
    int most = depth > 4 ? depth / 4 : 1;

    return asked < most ? asked : most;
}

/* The values of a backend's options, and of those of its base (NULL: it has none). */
struct weir_backend_opt {
    const void *own, *base;
    const struct weir_backend *refused; /* stands in for this one, which was asked for; NULL: for none */
    int refused_sys;                    /* and why: errno */
};

/* Time in the backend's functions for arrays. One that makes calls of a library with other work
 * around them puts these calls between weir_timed_begin and weir_timed_end (backends/array.h), and
 * then only they count. */
struct weir_timed {
    uint64_t begin_ns, call_ns, sum_ns; /* of the present function, of all since the session began */
    bool exact;                         /* the function has said itself what counts */
};

enum weir_op { WEIR_OP_OPEN, WEIR_OP_XFER, WEIR_OP_SYNC, WEIR_OP_CLOSE, WEIR_OPS };

/* More histograms, of a queue: ns from one completion to the next, and the number of transfers
 * in flight at each submission. */
enum { WEIR_HIST_BETWEEN = WEIR_OPS, WEIR_HIST_DEPTH, WEIR_HISTS };

/* Latencies of each operation since the last reset, on this rank. */
struct weir_session_stats {
    struct weir_hist hist[WEIR_HISTS];
    uint64_t completed_ns; /* clock at the last completion of a queue; 0: none, or it was empty since */
    uint64_t short_transfers, retries; /* continuations after a short transfer; EINTR and EAGAIN */
    uint64_t stored; /* bytes that filters of a library left of those written; 0: none, or not known */
};

/* Parts of a request to a service, in ns: connect and TLS handshake (new connections only),
 * wait for the first byte of the answer, the rest of the answer. */
enum weir_part { WEIR_PART_CONNECT, WEIR_PART_TLS, WEIR_PART_FIRST, WEIR_PART_LAST, WEIR_PARTS };

/* Counts of requests: sent (repeated ones too); connections made; repeated for one of three
 * reasons. The service asked for it, or a connection was lost or timed out, or the service has
 * sent it to another endpoint or region. */
enum weir_sent { WEIR_SENT, WEIR_SENT_CONNECTIONS, WEIR_SENT_REFUSED, WEIR_SENT_LOST, WEIR_SENT_MOVED, WEIR_SENT_COUNTS };

#define WEIR_ALL_HISTS (WEIR_HISTS + WEIR_PARTS)

/* Requests to a service since the last reset, on this rank. The backend adds to them. */
struct weir_service_stats {
    struct weir_hist part[WEIR_PARTS];
    uint64_t count[WEIR_SENT_COUNTS];
    /* Constant: the URLs of the endpoints of all tasks, and the number of that of this task. */
    const char *const *endpoint;
    int endpoints, own;
};

/* One backend in use by one test. Made by weir_session_begin. */
struct weir_session {
    const struct weir_backend *be;
    struct weir_gpu *gpu; /* of the transfer buffers; NULL: memory of the host. Set before start */
    const struct weir_backend *under; /* with a GPU: the backend that be is a copy of, */
    struct weir_backend *wrapped;     /* and be (session-gpu.c) */
    const void *opt;      /* the backend's option struct */
    const void *base_opt; /* that of be->base, NULL without one */
    struct weir_access access;
    const struct weir_par *par;
    const struct weir_log *log;
    void *priv;     /* priv_size zeroed bytes, the backend's own */
    unsigned flags; /* be->flags as they hold here: begin may change some (DUMMY that stores) */
    int depth;      /* transfers in flight at most: access.depth, 1, or what begin has set */
    int in_flight;  /* submitted and not given back yet */
    struct weir_request *only; /* of a queue of depth 1 */
    struct weir_request *oldest, *newest; /* in the queue of the backend */
    struct weir_session_stats *stats;
    struct weir_service_stats *service; /* set by begin, in priv: what is asked of a service; NULL: there is none */
    struct weir_timed timed;
    bool opened;            /* a file, at least once */
    struct {
        uint64_t path, device, inode; /* path: its hash; inode 0: none */
    } made; /* the file of the system that was opened last with WEIR_OPEN_CREATE */
    bool started;           /* begin was called and succeeded, or there is none */
    bool broken; /* set by the backend: a close has failed, and its library cannot be ended */
    struct weir_call *call; /* where calls are noted for a watchdog; NULL: nowhere */
    bool (*ends)(void *arg); /* has a signal ended the run? Then a backend skips all waits that
                              * it can. NULL: not known */
    void *ends_arg;
    struct weir_file *reserved; /* memory for the next open, or NULL */
    struct weir_array_file *reserved_arrays; /* the same for a file of arrays */
};

/* An open file: first member of the backend's own struct (file_size zeroed bytes, allocated by the
 * core). */
struct weir_file {
    struct weir_session *s;
    const char *path;          /* owned by the session */
    struct weir_extent extent; /* a copy of what open was given; zeros without one */
    int in_flight;             /* requests */
    void *gpu_handle;          /* of transfers by the library of a GPU (session-gpu.c) */
};

/* One transfer. off is the logical offset in the file. */
struct weir_io {
    enum weir_dir dir;
    void *buf;
    size_t len;   /* 0 is allowed when access.collective: take part, move nothing. Operations that
                   * move no data have 0 */
    uint64_t off; /* bytes */
    uint64_t tag; /* the caller's */
};

/* False for a transfer by which a rank only takes part in those of others. */
static inline bool weir_io_acts(const struct weir_io *io)
{
    return io->len > 0 || io->dir > WEIR_DIR_READ;
}

/* A transfer that ends later than the call that starts it. It and its buffer belong to the queue
 * from submit until complete gives it back. */
struct weir_request {
    struct weir_io io;
    struct weir_file *file;
    struct weir_io gpu_io;     /* io as submitted, where buffers are in memory of a GPU */
    ssize_t n;                 /* bytes moved, or -1 */
    int sys;                   /* with -1: errno */
    uint64_t begin_ns, end_ns; /* local clock: submitted, given back; the backend may set the end */
    uint64_t due_ns;           /* the caller's: when it was to begin, at a rate */
    uint64_t holds;            /* the caller's: which data are in its buffer; 0: not known */
    struct weir_request *next; /* the queue's */
    struct weir_request *older, *newer; /* the session's: in flight, in the order of submission */
};

/* The results of requests of the user; -1: not known. For a service, their means; 0: not known. */
struct weir_applied {
    int independent;  /* transfers were independent although collective ones were asked for */
    int other_layout; /* the file is not laid out as was asked for */
    int endpoints;    /* of the service, that the tasks have together */
    int connections;  /* of a task at most */
    int64_t memory;   /* bytes, of all servers */
    const char *memory_option; /* and the option that tells it, as a user writes it; NULL: none does */
};

struct weir_fs_usage {
    uint64_t total_bytes, free_bytes, avail_bytes, inodes, free_inodes;
};

/* Takes the name of a file, without the directory that was listed, and its bytes. The name is valid in that call only. 0, or
 * -1 and err, which ends the list. */
typedef int weir_name_fn(void *mine, const char *name, uint64_t bytes, struct weir_err *);

/* Calls of the system on one name, which phases of mdtest measure. */
enum weir_name_op {
    WEIR_NAME_LINK = 1, /* path becomes a hard link to the file 'other' */
    WEIR_NAME_SYMLINK,  /* path becomes a symbolic link with the text 'other' */
    WEIR_NAME_READLINK,
    WEIR_NAME_UNLINK,
    WEIR_NAME_RENAME,    /* to 'other' */
    WEIR_NAME_SETXATTR,  /* the extended attribute 'other' */
    WEIR_NAME_GETXATTR,  /* the same */
    WEIR_NAME_LISTXATTR, /* names, each with a 0 at its end */
    WEIR_NAME_CHMOD,
    WEIR_NAME_MODE,      /* as chmod sets it */
    WEIR_NAME_DIR,       /* entries but "." and "..", with 0 bytes, go to take */
    WEIR_NAME_DIRPLUS    /* and with their bytes, from a stat of each */
};

struct weir_name_call {
    enum weir_name_op op;
    const char *name; /* for messages */
    const char *path, *other;
    void *buf;  /* bytes to set, or capacity for bytes that are read */
    size_t len; /* of buf; set to the bytes that were read */
    unsigned mode;
    weir_name_fn *take;
    void *mine;
};

/* Functions on names, for mdtest and for the removal of files. All are local. Each returns 0, or
 * -1 and err. NULL means "cannot"; weir_posix_ns is shared by all backends whose files are
 * ordinary ones. */
struct weir_ns {
    bool ordinary; /* the files are those of the system: usage needs no session that has started */
    int (*mkdir)(struct weir_session *, const char *path, unsigned mode, struct weir_err *);
    int (*rmdir)(struct weir_session *, const char *path, struct weir_err *);
    int (*unlink)(struct weir_session *, const char *path, struct weir_err *);
    int (*rename)(struct weir_session *, const char *from, const char *to, struct weir_err *);
    int (*stat)(struct weir_session *, const char *path, struct weir_err *);
    int (*exists)(struct weir_session *, const char *path, bool *yes, struct weir_err *);
    int (*size)(struct weir_session *, const char *path, uint64_t *bytes, struct weir_err *);
    int (*mknod)(struct weir_session *, const char *path, struct weir_err *);
    int (*usage)(struct weir_session *, const char *path, struct weir_fs_usage *, struct weir_err *);
    int (*syncfs)(struct weir_session *, const char *path, struct weir_err *);
    /* Call 'take' once for each file below dir whose name there begins with 'begin', in byte order
     * of the names: "a/b" is in the directory a. Nothing below it: none. */
    int (*list)(struct weir_session *, const char *dir, const char *begin, weir_name_fn *take, void *mine,
                struct weir_err *);
    int (*call)(struct weir_session *, struct weir_name_call *, struct weir_err *);
};

/* Properties of a backend that its functions do not show. */
enum {
    WEIR_BE_COLLECTIVE_OPEN =
        1u << 0, /* open, sync, close of a shared file are collective over par->comm */
    WEIR_BE_COLLECTIVE_XFER = 1u << 1, /* knows collective transfers; others ignore -c */
    WEIR_BE_NO_RANDOM = 1u << 2,       /* offsets must ascend (HDF5, NCMPI) */
    WEIR_BE_CONTAINER = 1u << 3, /* the file holds more than the data: its size is not b*s*N */
    WEIR_BE_NO_DATA = 1u << 4,   /* nothing is stored: sizes and data cannot be checked (DUMMY) */
    WEIR_BE_WHOLE = 1u << 5,   /* open for writing makes the file as long as file_bytes at once (MMAP) */
    WEIR_BE_COLLECTIVE_META = 1u << 7, /* knows access.collective_metadata; others ignore it */
    WEIR_BE_SHARED_ONLY = 1u << 6, /* check refuses a file per task (NCMPI) */
    WEIR_BE_NEEDS_MPI = 1u << 8,   /* calls MPI also where each task has a file of its own, and names may
                                      begin with a driver of MPI-IO (weir_system_path) */
    WEIR_BE_TAKES_POINTERS = 1u << 10, /* a call gets the pointer of a transfer, also of managed
                                        * memory of a GPU */
    WEIR_BE_OTHER_SIZE = 1u << 12,     /* the size of a file does not tell how far its data go: they are
                                        * compressed, or kept in further files */
    WEIR_BE_HOST_ONLY = 1u << 11,      /* its buffers are in memory of the host (MMAP) */
    WEIR_BE_OBJECTS = 1u << 9      /* Names are those of a service. The system has none for them
                                      (weir_system_path), and no directory needs to exist. A new
                                      file replaces an existing one as a whole. */
};

/* The contract. Functions return 0 (xfer: bytes moved) or -1 with err filled: what was
 * attempted, on what, the reason. A backend never prints, never ends the process, never calls a
 * barrier unless the access is collective, never looks at options other than its own and its
 * base's. NULL means "cannot" (begin, end, check: "nothing to do"). xfer may give the
 * bare reason (errno in err->sys): unless it names the path, the session adds direction, length,
 * offset, path. */
struct weir_backend {
    unsigned abi;               /* WEIR_BACKEND_ABI */
    const char *name, *brief;   /* "POSIX"; one sentence */
    const char *prefix;         /* of its options: "posix." */
    const char *scheme;         /* NULL, or: names that begin with it are of this backend only, "s3://" */
    const char *plugin; /* NULL, or: only a descriptor, the functions are in weir-<plugin>.so */
    /* NULL, or the backend that this one is built on: its options hold here, too */
    const struct weir_backend *base;
    unsigned flags; /* WEIR_BE_... */
    const struct weir_opt *opts;
    size_t opt_size, priv_size, file_size;
    const char *(*version)(void); /* apiVersion; NULL: "" */
    /* Check the options against the access, and against the geometry where it is known (else NULL).
     * Before any I/O; same on all ranks. */
    int (*check)(struct weir_session *, const struct weir_extent *, struct weir_err *);
    /* Check a name of a test. Nothing is looked at. Local. -1 and err (WEIR_EUSAGE). NULL: any. */
    int (*check_name)(const struct weir_session *, const char *path, struct weir_err *);
    /* Check whether the system refuses calls that the backend needs (opt: its options). The
     * user can name another one for that with an option "fallback", which all ranks take then.
     * Local. errno, 0: it does not. NULL: nothing can be refused. */
    int (*refused)(const void *opt);
    int (*begin)(struct weir_session *, struct weir_err *);
    int (*end)(struct weir_session *, struct weir_err *);
    /* s, path and extent of the file are set. Without a geometry a backend that makes shapes of it
     * (HDF5, NCMPI) cannot store data, and says so here or in xfer. One that keeps arrays only
     * has no close and no xfer: it refuses here, and in check where there is a geometry. */
    int (*open)(struct weir_session *, const char *path, unsigned flags, struct weir_file *,
                struct weir_err *);
    int (*close)(struct weir_file *, struct weir_err *);
    ssize_t (*xfer)(struct weir_file *, const struct weir_io *,
                    struct weir_err *); /* may be short; 0 on read: end of file */
    /* The queue, where a backend has one: before begin s->depth is access.depth, or 1; without
     * access.depth begin may set it to what its options allow. NULL: the session makes a queue of
     * depth 1 from xfer. Nothing here allocates but queue.
     * queue: from now on up to depth (1 to s->depth) requests are in flight. None is now.
     * submit: start r, or keep it for a batch. There is capacity: the session counts. 1: it was moved in
     * the call, complete gives it back. -1: not in the queue. An error after submit comes from complete.
     * complete: give back up to 'most' requests with n and sys set, of any file of the session, in
     * any order. It waits for 'least' (no more than are in flight; 0: do not wait), or fewer where
     * the system cannot go on. Messages are about f. Returns how many, or -1 and err: the state of
     * the requests is no longer known.
     * reason: why n of r is -1; NULL: the text of r->sys. Returns -1.
     * xfer may be called while requests are in flight: it continues those that came back short.
     * Where access.collective is set and the transfers are, all ranks submit in the same order, one
     * that has nothing to move with length 0, and complete and reason stay local. */
    const char *depth_option; /* which of its options limits the depth, without prefix */
    int (*queue)(struct weir_session *, int depth, struct weir_err *);
    /* Called after queue, and once, with the memory that its transfers will use most, n pieces.
     * It stays until end. NULL: no use for it. */
    int (*buffers)(struct weir_session *, const struct iovec *area, int n, struct weir_err *);
    int (*submit)(struct weir_request *r, struct weir_err *);
    int (*complete)(struct weir_file *f, int least, int most, struct weir_request **done,
                    struct weir_err *);
    int (*reason)(const struct weir_request *r, struct weir_err *);
    int (*sync)(struct weir_file *, struct weir_err *);
    const struct weir_ns *ns;
    const struct weir_array_ops *array; /* files of n-dimensional arrays: array.h */
    /* The descriptor of an open file, for the library of a GPU; NULL: there is none. Local. */
    int (*descriptor)(const struct weir_file *);
    /* Take a directory back to the default layout (striping) of the file system. Local. */
    int (*reset_dir)(struct weir_session *, const char *path, struct weir_err *);
    /* After the first open: append facts for the report (hints ...), "key = value\n" each. */
    void (*describe)(struct weir_file *, struct weir_str *out);
    /* The hints in effect of an open file, for programs: append "key\0value\0" for each. Local, and
     * quick: it is called between open and the first transfer. */
    void (*hints)(struct weir_file *, struct weir_str *out);
    /* Report how requests of the user were applied, as far as it is known: to an open file, or
     * (f NULL) to the last transfers of the session. */
    void (*applied)(struct weir_session *, struct weir_file *f, struct weir_applied *out);
};

/* The symbol of a plugin (weir-NAME.so): its backend, complete. Only plugin.c looks for it. */
extern const struct weir_backend weir_plugin __attribute__((visibility("default")));

/* The name that the operating system has for a file of this backend: without the driver, where
 * names may begin with one. Points into path. NULL: it has none, and the file must not be
 * searched for there (WEIR_BE_OBJECTS). Local. */
const char *weir_system_path(const struct weir_backend *be, const char *path);
