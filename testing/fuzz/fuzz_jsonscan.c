/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_jsonscan.c - any bytes as a JSON document: read to its end, or refused with a line */
#include "config.h"
#include "base/jsonscan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte of what is given can be read, and texts are there for texts only. */
static void take(void *to, const struct weir_json_value *v)
{
    size_t *seen = to;

    *seen += strlen(v->path) + (v->text ? strlen(v->text) : 0);
    if ((v->kind == WEIR_JSON_TEXT) != (v->text != NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_err err = WEIR_ERR_INIT;
    char *text = malloc(size + 1);
    size_t seen = 0;

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (weir_json_scan(text, take, &seen, &err) < 0 && strncmp(err.text, "line ", 5) != 0)
        abort();
    free(text);
    return 0;
}
