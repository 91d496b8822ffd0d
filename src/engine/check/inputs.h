/* SPDX-License-Identifier: BSD-3-Clause */
/* inputs.h - what is known about a test when it is judged: plain numbers, the same for every
 * program. A value that is not known is NaN or -1, never an estimate. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/data/pattern.h"
#include "engine/program.h"

#define WEIR_INPUTS_PHASES 40 /* kinds of phases of a test: more than any program has */
#define WEIR_INPUTS_RATES 128 /* repetitions of which the rate is kept */
#define WEIR_OTHERS_SHARE 0.25 /* of a device or of processors: more is a finding (H26) */

/* Bits for data that are read, and written. */
enum weir_moves {
    WEIR_MOVES_NOTHING,
    WEIR_MOVES_IN,
    WEIR_MOVES_OUT,
    WEIR_MOVES_BOTH = WEIR_MOVES_IN | WEIR_MOVES_OUT
};

/* One kind of phase over all repetitions: the worst value of each number. Seconds, bytes; shares
 * are of 1. */
struct weir_inputs_phase {
    const char *key; /* "write" */
    enum weir_moves moves;
    bool makes;              /* items, and moves no data */
    bool once;               /* before or after all repetitions */
    uint64_t n;              /* how many times it ran */
    double shortest_s;       /* first open to last close */
    double bytes;            /* of all tasks; the most of a repetition */
    double rate;             /* the best, bytes a second; 0 where no bytes are moved */
    double cached;           /* of what was to be read, in the page cache of the reader's node */
    bool unseen;             /* that was asked, and the system did not tell */
    double dirty;            /* of what was written, not on storage at the end of the time */
    double left;             /* of what was moved with direct I/O, in the page cache after it */
    double slow;             /* that stragglers cost, of all: of the phase where it is most */
    char stragglers[160];    /* and words about them */
    double tail;             /* time from 90 % of the tasks being done to the last one, of all */
    double ends;             /* open, close and sync, of all */
    double cpu;              /* user time of a task over the time of the phase, mean of the tasks */
    double data;             /* making and checking data, of the work; mean of the tasks */
    double unsteady;         /* change of the rate in its second half, see weir_series_unsteady */
    double past_steady;      /* worst criterion of --until=steady over its limit; NaN: not asked for */
    char steadiness[160];    /* and words about it */
    double clock;            /* uncertainty of the common clock, of the phase */
    double busy_s;           /* least time that a task worked, mean of the tasks */
    double rate_missed;      /* of the rate that was asked for (--rate); NaN: none was */
    struct weir_rate_reached at; /* then: it, and how well it was reached */
    double joined;           /* writes for each request of writing that a device completed */
    double asked, reached;   /* bytes of read or write calls, and of these from or to a device */
    double rates[WEIR_INPUTS_RATES]; /* bytes or, where none are moved, operations a second */
    int nrates;
};

enum weir_inputs_data {
    WEIR_DATA_UNKNOWN,
    WEIR_DATA_REPEATED, /* timestamp, offset */
    WEIR_DATA_RANDOM    /* cannot be compressed or deduplicated */
};

struct weir_par;

/* Inputs for files that are objects of a service. */
struct weir_inputs_service {
    double sent, refused, lost; /* requests of all phases; those that were sent again because the service asked for
                                 * it, and because a connection was lost or no answer came */
    double working_set;  /* bytes that a phase reads, each once: the most */
    double read_since;   /* bytes read since the objects were written */
    double reread;       /* and how often each byte, the most; NaN: not known */
    bool written;        /* by this test */
    int of_others;       /* tasks read what other tasks wrote */
    double stale;        /* transfers of such objects that were checked and wrong; NaN: none was checked */
    int endpoints;       /* of all tasks; 0: not known */
    int connections, depth; /* of a task; 0: not known. Its transfers in flight */
    double memory;       /* bytes of all servers */
    const char *memory_option; /* that tells it; NULL: none does */
};

struct weir_inputs {
    /* the machine */
    int tasks, nodes, per_node_max; /* a node is a kernel */
    int mpi_nodes, kernels;  /* nodes that MPI reports, or the user; kernels, 0: not known */
    bool differs, given;     /* kernels are not the nodes of MPI; the user has said what nodes are */
    bool uneven;             /* nodes have different numbers of tasks */
    double memory;           /* bytes of the smallest node, or what its control group allows */
    double tasks_per_core;   /* of the node with the most */
    double cores;            /* of the first node */
    const char *path;        /* where the test works; NULL unknown */
    const char *file_system; /* type, as in the mount table; "" unknown */
    bool image;              /* the file system is in a file, whose pages may have the bytes */
    const char *compresses;  /* the option of the mount that makes it compress; NULL: none */
    double memcpy_rate;      /* bytes a second that a node can copy */
    bool on_network;         /* the nodes reach the file system over their links */
    double link_rate;        /* bytes a second of these of a node; NaN: one is not known */
    struct weir_found found; /* its shares are the worse of before and after */
    double peak;             /* --peak, bytes a second */
    double resolution_s;     /* of the clock */
    struct weir_missing missing;
    /* the options, as the program knows them */
    bool objects; /* the files are objects of a service */
    struct weir_inputs_service service;
    int stores; /* 0: the bytes are kept nowhere (-a DUMMY, a program that only gathers) */
    int durable;             /* something inside the time makes data durable */
    int direct;              /* direct I/O was asked for */
    int shared;              /* tasks share files */
    int random;              /* offsets are random */
    int own_metadata;        /* items are looked at by the node that made them */
    int collective;          /* was asked for */
    int independent;         /* 1: collective was asked for and is not done */
    int other_layout;        /* 1: the layout is not what was asked for */
    int foreign;             /* 1: what was read was written with other parameters */
    int indirect;            /* 1: direct transfers with a GPU go through memory of the host */
    int distance;            /* in nodes, of the task whose data are read; -1: not asked for */
    double transfer;         /* bytes */
    double planned_bytes;    /* of all tasks in a phase */
    double file_bytes;       /* of a file that is read, as this test writes them */
    double own_node;         /* share of the tasks that read what their own node wrote */
    double unread;           /* fraction of the data that is not read because other data are
                              * read twice */
    double repeats;          /* share of the blocks that are drawn again */
    enum weir_inputs_data data_kind;
    struct weir_ratio ratio; /* that was asked for, of the data that are written */
    /* what happened */
    double allocated;        /* allocated bytes over size, of files that are flushed */
    double written;          /* of these files: the share that is neither hole nor reserved */
    double stored;   /* bytes that filters of a library left of those written last; NaN: not known */
    double filtered; /* as a fraction of these; NaN: not known */
    double compressed;       /* the most that is compressed on the device, of a phase; 0 unknown */
    double retries;          /* short transfers and calls that were tried again */
    double others_cpu;       /* share of the processors of a node's tasks that others used in the
                              * phases; of the node with the most */
    double others;           /* bytes that others moved on the block device of the files, in the
                              * phases */
    double others_share;     /* of what the device moved, or of what the test asked for where that
                              * is more */
    const char *others_why;  /* why that is not known */
    double sequential_rate;  /* of large transfers in order, on the same files, earlier in the
                              * run */
    bool planned;            /* a dry run: phases are as they are meant */
    bool repeated;           /* a phase moved the same bytes in several passes, through the page cache */
    bool evicted;            /* the pages of the files were dropped before each read phase */
    bool intercepted;        /* a preloaded library takes the I/O calls */
    const char *cache_why;   /* why the page cache is not known; NULL: not asked for */
    const char *cache_hides; /* why more may be in the page cache than was seen; NULL: no */
    int repetitions;
    bool by_slowest;         /* rates of repetitions are those of the slowest rank */
    struct weir_inputs_phase phase[WEIR_INPUTS_PHASES];
    int phases;
};

/* Set all inputs to: not known. Local. */
void weir_inputs_init(struct weir_inputs *f);

/* Return the fraction of tasks whose 'whom', a rank, is on their own node. Collective over par. */
double weir_inputs_own_node(const struct weir_par *par, int whom);

/* The kind of phase with this key, made when it is new; NULL when there are too many kinds. key
 * must live as long as the inputs. Local. */
struct weir_inputs_phase *weir_inputs_phase_of(struct weir_inputs *f, const char *key);

/* True when a phase moves data this way, or in one of several ways. Local. */
bool weir_inputs_have(const struct weir_inputs *f, enum weir_moves moves);
