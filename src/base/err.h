/* SPDX-License-Identifier: BSD-3-Clause */
/* err.h - errors as values: what went wrong, where, and the exit status it asks for */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* The exit statuses of every program of the suite. The numbers are interface. */
enum weir_code {
    WEIR_OK = 0,
    WEIR_EUSAGE = 1,   /* the command line or a script is wrong */
    WEIR_ESETUP = 2,   /* the environment is: no memory, no library, cannot write the report */
    WEIR_EIO = 3,      /* an I/O operation under test failed */
    WEIR_EDATA = 4,    /* data read back are not what was written */
    WEIR_EINVALID = 5, /* --strict: a number is invalid by its rule set */
    WEIR_EINTR = 6,    /* a signal ended the run early */
    WEIR_EBUG = 70     /* internal error */
};

/* Return the worse of two statuses, with which a run ends that has had both. The worst is an
 * internal error, for then nothing can be trusted. Then come wrong data and failed operations;
 * then the reasons of an incomplete run: set-up, usage, a signal; then invalid numbers. */
enum weir_code weir_code_worse(enum weir_code a, enum weir_code b);

/* True when all of the run took place, whatever its results are worth. */
static inline bool weir_code_is_whole(enum weir_code code)
{
    return code == WEIR_OK || code == WEIR_EDATA || code == WEIR_EINVALID;
}

#define WEIR_ERR_TEXT 8192 /* holds a path of PATH_MAX and the words around it */

/* One error. Whoever first knows the cause fills it; everyone above only passes it on. */
struct weir_err {
    enum weir_code code;
    int sys; /* errno, or 0 when the system gave no reason */
    bool agreed; /* all ranks have it, and the text says whose it is (weir_agree) */
    char text[WEIR_ERR_TEXT];
};

#define WEIR_ERR_INIT                                                                              \
    {                                                                                              \
        .code = WEIR_OK                                                                            \
    }

/* Record an error whose reason is in errno: the text is the formatted words, ": " and
 * strerror(errno). Local. err may be NULL. Returns -1, so that "return weir_fail(...)" reads
 * well. */
int weir_fail(struct weir_err *err, enum weir_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Record an error that has no errno: the text is the formatted words, after "internal error: " where
 * the code is WEIR_EBUG. Otherwise as weir_fail. */
int weir_refuse(struct weir_err *err, enum weir_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* For libraries with reasons of their own: the text is the formatted words, ": " and 'why', below half of WEIR_ERR_TEXT
 * (NULL: none). Otherwise as weir_fail, with 'sys' in place of errno. */
int weir_fail_with(struct weir_err *err, enum weir_code code, int sys, const char *why,
                   const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

/* A rule: whether it is broken, and the words for that. */
struct weir_conflict {
    bool broken;
    const char *text;
};

/* Record (WEIR_EUSAGE) the first of n that is broken. Local. Returns 0, or -1 and err. */
int weir_conflicts_check(const struct weir_conflict *rules, size_t n, struct weir_err *err);

/* Put words of context and ": " in front of the text of a recorded error. Local. Returns -1. */
int weir_err_within(struct weir_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Append words to the text of a recorded error. Local. Returns -1. */
int weir_err_add(struct weir_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
