/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_size.c - any bytes as a number, a share, and the number back as text */
#include "base/size.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

/* What was read is within its range, and its decimal digits read as the same number. */
static void check_size(const char *text, int64_t min, int64_t max)
{
    struct weir_err err = WEIR_ERR_INIT;
    int64_t value = 42, again = 0;
    char digits[32], shown[WEIR_SIZE_TEXT];

    if (weir_size_parse(text, min, max, &value, &err) < 0) {
        expect(err.code == WEIR_EUSAGE && err.text[0] != '\0' && value == 42);
        return;
    }
    expect(value >= min && value <= max);
    expect(snprintf(digits, sizeof(digits), "%" PRId64, value) < (int)sizeof(digits));
    expect(weir_size_parse(digits, min, max, &again, &err) == 0 && again == value);
    expect(weir_size_show(value, shown) == shown && shown[0] != '\0' &&
           strlen(shown) < sizeof(shown));
}

static void check_share(const char *text)
{
    struct weir_err err = WEIR_ERR_INIT;
    int64_t bytes = 0;
    double percent = 0;

    if (weir_share_parse(text, &bytes, &percent, &err) < 0)
        expect(err.code == WEIR_EUSAGE && err.text[0] != '\0');
    else if (percent < 0)
        expect(bytes >= 0);
    else
        expect(percent <= 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    check_size(text, INT64_MIN, INT64_MAX);
    check_size(text, INT32_MIN, INT32_MAX);
    check_size(text, 1, 4096);
    check_share(text);
    free(text);
    return 0;
}
