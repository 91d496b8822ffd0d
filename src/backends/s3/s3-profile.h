/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-profile.h - the form of ~/.aws/credentials and ~/.aws/config: sections of settings */
#ifndef WEIR_BACKENDS_S3_S3_PROFILE_H
#define WEIR_BACKENDS_S3_S3_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum s3_setting {
    S3_SET_ID,
    S3_SET_SECRET,
    S3_SET_TOKEN,
    S3_SET_REGION,
    S3_SET_ENDPOINT,
    S3_SET_SERVICES, /* name of a section with endpoints of services */
    S3_SET_ELSEWHERE, /* keys are made by a program or by another service */
    S3_SETTINGS
};

/* The part of a file that is looked for. */
struct s3_section {
    const char *file;  /* for messages */
    const char *kind;  /* "profile", "services": [KIND NAME], [default]; "": [NAME] */
    const char *name;
    const char *under; /* only settings that are indented below this one ("s3"); NULL: only those that are not */
};

/* Zero-initialise; release with s3_profile_free. Texts are owned; NULL: not there. */
struct s3_profile {
    char *text[S3_SETTINGS];
    int line[S3_SETTINGS]; /* in the file, from 1 */
    bool found;            /* the section is there */
};

/* Read the settings of a section from len bytes (no NUL needed): "name = value", '#' and ';' begin comments, blanks
 * around names and values and a CR at the end of a line mean nothing. Local. -1 and err (WEIR_ESETUP) "FILE:LINE:
 * ...", with no value in it. */
int s3_profile_read(struct s3_profile *p, const struct s3_section *where, const char *text, size_t len,
                    struct weir_err *err);

/* The name of a setting in files. */
const char *s3_setting_name(enum s3_setting setting);

/* Overwrites the texts before they are freed. */
void s3_profile_free(struct s3_profile *p);

/* The same for one text; NULL: nothing. */
void s3_wipe(char *text);

#endif
