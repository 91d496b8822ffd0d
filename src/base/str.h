/* SPDX-License-Identifier: BSD-3-Clause */
/* str.h - a string that grows */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The error of a text file that has a byte 0. */
#define WEIR_NOT_TEXT "a NUL byte; this is not a text file"

/* Zero-initialise; release with weir_str_free. text is NUL-terminated, and NULL while nothing was
 * added. When memory runs out the string keeps what it has and 'failed' stays set: check it once
 * at the end. */
struct weir_str {
    char *text;
    size_t len, cap;
    bool failed;
};

/* Append formatted text, a piece of len bytes, one character. Local. Never abort: see 'failed'. */
void weir_str_addf(struct weir_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void weir_str_vaddf(struct weir_str *s, const char *fmt, va_list ap);
void weir_str_add(struct weir_str *s, const char *piece, size_t len);
void weir_str_addc(struct weir_str *s, char c);

/* The text, "" while it is empty. Valid until the next call that adds. */
const char *weir_str_text(const struct weir_str *s);

/* Returns the text after 'at' (NULL: the first) in a list of texts that end with a NUL each, or NULL
 * at the end of the list. Paths are kept so, as no path has a NUL. */
const char *weir_str_next(const struct weir_str *s, const char *at);

/* As weir_str_text, for messages: a text that says so when memory ran out. */
const char *weir_str_words(const struct weir_str *s);

/* Write the text, or words that say so where memory ran out, and flush the stream. Local. True also
 * where the reader of a pipe has closed it (EPIPE; SIGPIPE must be ignored): it has what it wants. */
bool weir_str_print(const struct weir_str *s, FILE *to);

/* The text without white space at both ends; *len is its length, before and after. Local. */
const char *weir_trimmed(const char *text, size_t *len);

/* Trim a text in place: returns where it begins, and puts a NUL at its end. Local. */
char *weir_trim(char *text);

/* Put a number and a NUL at 'at', without any check; returns where the NUL is. For names that are
 * made while time is measured. */
char *weir_put_u64(char *at, uint64_t number);

/* Write len bytes to a descriptor, through interruptions; *done counts them. Local. Returns 0, or
 * -1 with errno, EIO where nothing could be written. */
int weir_write_all(int fd, const char *text, size_t len, size_t *done);

void weir_str_clear(struct weir_str *s); /* empty, keeps the memory */
void weir_str_free(struct weir_str *s);
