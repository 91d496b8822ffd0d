/* SPDX-License-Identifier: BSD-3-Clause */
/* jsonfile.h - a JSON document that is in a file from the beginning and grows */
#ifndef WEIR_BASE_TEXT_JSONFILE_H
#define WEIR_BASE_TEXT_JSONFILE_H

#include "base/text/growing.h"
#include "base/text/json.h"

/* An object or a list that gets members. What is in it is in the file; so the memory for it does not
 * grow with their number. */
struct weir_jsonpart {
    struct weir_jsonpart *in; /* NULL: the document */
    char *key;
    bool list;
    uint64_t members;            /* that it has */
    int level;                   /* parts around it */
    struct weir_gap gap;         /* where members come in */
    struct weir_jsonpart *lists; /* those of weir_jsonfile_list, in this object, */
    struct weir_jsonpart *next;  /* and the next one */
    struct weir_str keys;        /* of an object, each with a NUL: see weir_jsonfile_is_new */
};

/* Zero-initialise; release with weir_jsonfile_close. Until it is finished, the first key of the document
 * is "unfinished": 1. */
struct weir_jsonfile {
    struct weir_growing file;
    struct weir_jsonpart *root;
    bool failed; /* a part is lost: nothing more comes in */
};

/* Begin a document, as weir_growing_open begins its file. Local. -1 and err (WEIR_ESETUP). */
int weir_jsonfile_open(struct weir_jsonfile *f, const char *place, struct weir_err *err);

/* Has anything come in? Local. */
bool weir_jsonfile_begun(const struct weir_jsonfile *f);

/* Open an object or a list in 'in'. It is closed before 'in' is. Local. NULL when memory is out. */
struct weir_jsonpart *weir_jsonfile_enter(struct weir_jsonfile *f, struct weir_jsonpart *in,
                                          const char *key, bool list);

/* Close a part, and the lists in it. Local. */
void weir_jsonfile_leave(struct weir_jsonfile *f, struct weir_jsonpart *part);

/* The list 'key' in an object; at the first time it is made there. It stays open as long as the object.
 * Local. NULL when memory is out. */
struct weir_jsonpart *weir_jsonfile_list(struct weir_jsonfile *f, struct weir_jsonpart *in,
                                         const char *key);

/* Is it the first time that an object is asked for a key? In a list all are new. Local. */
bool weir_jsonfile_is_new(struct weir_jsonfile *f, struct weir_jsonpart *in, const char *key);

/* A writer into 'text' of the next member of 'in'; weir_jsonfile_put takes the text into the document, frees
 * it, and returns where it is in the file. Local. */
struct weir_json weir_jsonfile_member(const struct weir_jsonpart *in, struct weir_str *text);
uint64_t weir_jsonfile_put(struct weir_jsonfile *f, struct weir_jsonpart *in, struct weir_str *text);

/* Append the document without room to 'out' (NULL: nowhere), unless a part is lost; 'marked': with the key that it is unfinished. Local.
 * Returns errno of what failed first since the document was begun, 0: nothing. */
int weir_jsonfile_write(struct weir_jsonfile *f, bool marked, FILE *out);

/* Free the document; 'keep': its file stays when anything has come in. Local. */
void weir_jsonfile_close(struct weir_jsonfile *f, bool keep);

#endif
