/* SPDX-License-Identifier: BSD-3-Clause */
/* jsonlog.h - a JSON document whose members are appended to a file as JSON Lines, and which is
 * written from that file at its end
 *
 * A line is [PATH, VALUE]: PATH are the keys, and the numbers in lists, from the document to
 * the value; an object or a list begins with a line whose value is {} or []. Lines of an object
 * that was opened follow each other; those of its lists (weir_jsonlog_row) may take turns. So
 * whatever the number of members is, the memory is that for the keys of the objects that are
 * open. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text/json.h"
#include "base/text/wholefile.h"

#define WEIR_JSONLOG_DEPTH 16

struct weir_jsonlog_key;

/* Zero-initialise; release with weir_jsonlog_close. The first line is [["unfinished"],1]. */
struct weir_jsonlog {
    struct weir_spool file;
    struct weir_str path, line; /* path: of what is open; line: the one that is made */
    struct {
        bool list;                     /* an object otherwise */
        size_t path;                   /* length of the path around it */
        uint64_t members;              /* of a list */
        struct weir_jsonlog_key *keys; /* of an object */
    } level[WEIR_JSONLOG_DEPTH];       /* what is open, the document first */
    int depth;                         /* the level of the last */
    bool failed; /* something is lost: nothing comes in, and the document will not be written */
};

/* Begin a document at 'place' (NULL: in memory), as weir_spool_open begins its file. Local. -1
 * and err (WEIR_ESETUP). */
int weir_jsonlog_open(struct weir_jsonlog *log, const char *place, struct weir_err *err);

/* Returns whether the document has a member, or failed to get one. Local. */
bool weir_jsonlog_begun(const struct weir_jsonlog *log);

/* Open and close an object or a list in what is open. Local. */
void weir_jsonlog_enter(struct weir_jsonlog *log, const char *key, bool list);
void weir_jsonlog_leave(struct weir_jsonlog *log);

/* Begin a member of the open object; *value gets the writer of its one value. False: the object has
 * this key already. Local. */
bool weir_jsonlog_member(struct weir_jsonlog *log, const char *key, struct weir_json *value);

/* Make the list 'key' in the object that is open unless it is there. Local. Returns how many
 * rows it has. */
uint64_t weir_jsonlog_list(struct weir_jsonlog *log, const char *key);

/* Begin the next row of that list. Local. Returns the writer of its one value. */
struct weir_json weir_jsonlog_row(struct weir_jsonlog *log, const char *key);

/* End what weir_jsonlog_member or weir_jsonlog_row has begun. Local. */
void weir_jsonlog_end(struct weir_jsonlog *log);

/* Write the document to 'out'; 'marked': with the key that it is unfinished; 'flat': on one
 * line, without a newline at its end. Nothing is written where something is lost. Local.
 * Returns errno of what failed first since the document was begun, 0: nothing; errors of 'out'
 * are its own. */
int weir_jsonlog_write(struct weir_jsonlog *log, bool marked, bool flat, FILE *out);

/* Free the document; 'keep': its file stays when it has a member. Local. */
void weir_jsonlog_close(struct weir_jsonlog *log, bool keep);
