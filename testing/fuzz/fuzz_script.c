/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_script.c - any bytes as a script, with options after it */
#include "base/text/script.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/opttable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

static int set_options(void *arg, const char *list, struct weir_err *err)
{
    struct table *t = arg;

    expect(*list != '\0' && strpbrk(list, "\n") == NULL);
    return weir_opts_directives(&t->opts, list, err);
}

static int end_test(void *arg, struct weir_err *err)
{
    struct table *t = arg;

    (void)err;
    t->n_notes++;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size > 0 ? size : 1);
    struct table *t = malloc(sizeof(*t));
    struct weir_script_sink sink = { .directives = set_options, .run = end_test, .arg = t };

    expect(exact != NULL && t != NULL);
    if (size > 0)
        memcpy(exact, data, size);
    expect(table_open(t) == 0);
    if (weir_script_read(exact, size, "fuzz.ior", &sink, &t->err) < 0) {
        expect(t->err.code == WEIR_EUSAGE);
        expect(strncmp(t->err.text, "fuzz.ior:", 9) == 0);
        for (const char *c = t->err.text; *c != '\0'; c++)
            expect((unsigned char)*c >= 0x20);
    } else {
        expect(t->n_notes > 0); /* a script is at least one test */
    }
    table_close(t);
    free(t);
    free(exact);
    return 0;
}
