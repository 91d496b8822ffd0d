/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_argv.c - any bytes as a command line: words are separated by newlines or NUL bytes */

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/opttable.h"

enum { MOST_WORDS = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

/* Split len bytes in place into words with a program's name before them. Returns how many. */
static int split(char *text, size_t len, char *words[MOST_WORDS + 1])
{
    static char program[] = "ior";
    int n = 0;

    words[n++] = program;
    for (size_t at = 0; at < len && n < MOST_WORDS;) {
        words[n++] = text + at;
        while (at < len && text[at] != '\n' && text[at] != '\0')
            at++;
        text[at++] = '\0';
    }
    words[n] = NULL;
    return n;
}

/* An error is one short line with a reason; a success kept every value in its range. */
static void check_outcome(const struct table *t, int rc)
{
    if (rc < 0) {
        expect(t->err.code == WEIR_EUSAGE);
        expect(t->err.text[0] != '\0' && strlen(t->err.text) < 2000);
        for (const char *c = t->err.text; *c != '\0'; c++)
            expect((unsigned char)*c >= 0x20);
        return;
    }
    expect(t->m.verbose >= -1 && t->m.verbose <= 5);
    expect(t->m.shuffle >= 0);
    expect(t->m.repetitions >= 1);
    expect(t->m.narrow >= 2 && t->m.narrow <= 9);
    expect(t->m.xfer >= 1);
    expect(strcmp(t->m.packet, "timestamp") == 0 || strcmp(t->m.packet, "offset") == 0 ||
           strcmp(t->m.packet, "random") == 0);
    expect(t->m.api != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[MOST_WORDS + 1], *text = malloc(size + 1);
    struct table *t = malloc(sizeof(*t));

    expect(text != NULL && t != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    expect(table_open(t) == 0);
    check_outcome(t, weir_opts_argv(&t->opts, split(text, size, words), words, &t->err));
    table_close(t);
    free(t);
    free(text);
    return 0;
}
