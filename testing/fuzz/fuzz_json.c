/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_json.c - any bytes as members of a JSON document, which is then read by a strict reader */
#include "base/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/text/quote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true)
{
    if (!is_true)
        abort();
}

/* ---- a strict reader: each function reads one thing at *at and goes on after it ---- */

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \n");
}

static void read_string(const char **at)
{
    expect(*(*at)++ == '"');
    while (**at != '"') {
        size_t n = weir_utf8_len(*at, strlen(*at));

        expect(n > 0 && (unsigned char)**at >= 0x20);
        if (**at == '\\') {
            expect((*at)[1] != '\0' && strchr("\"\\bfnrtu", (*at)[1]) != NULL);
            n = (*at)[1] == 'u' ? 6 : 2;
            expect(n == 2 || strspn(*at + 2, "0123456789abcdef") >= 4);
        }
        *at += n;
    }
    (*at)++;
}

static void read_number(const char **at)
{
    double number;
    const char *end = weir_real_scan(*at, &number);

    expect(strspn(*at, "-0123456789") > 0 && isfinite(number));
    expect((size_t)(end - *at) == strspn(*at, "-+.e0123456789"));
    *at = end;
}

static void read_value(const char **at);

static void read_members(const char **at, char end)
{
    (*at)++;
    for (skip_blanks(at); **at != end; skip_blanks(at)) {
        if (end == '}') {
            read_string(at);
            expect(*(*at)++ == ':');
            skip_blanks(at);
        }
        read_value(at);
        skip_blanks(at);
        expect(**at == ',' || **at == end);
        if (**at == ',')
            expect(*++*at == '\n' || **at == ' ');
    }
    (*at)++;
}

static void read_value(const char **at)
{
    if (**at == '{')
        read_members(at, '}');
    else if (**at == '[')
        read_members(at, ']');
    else if (**at == '"')
        read_string(at);
    else if (strncmp(*at, "null", 4) == 0)
        *at += 4;
    else
        read_number(at);
}

/* ---- a document made of the bytes ---- */

static uint64_t take_number(const uint8_t **data, size_t *size)
{
    uint64_t n = 0;
    size_t len = *size < sizeof(n) ? *size : sizeof(n);

    memcpy(&n, *data, len);
    *data += len;
    *size -= len;
    return n;
}

static double as_real(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void add_text(struct weir_json *j, const uint8_t **data, size_t *size)
{
    size_t len = *size < 20 ? *size : 20;
    char text[21] = "";

    memcpy(text, *data, len);
    *data += len;
    *size -= len;
    weir_json_str(j, text, text);
}

static void add_member(struct weir_json *j, const uint8_t **data, size_t *size)
{
    uint8_t what = *(*data)++ % 6;

    (*size)--;
    if (what < 2 && j->depth < WEIR_JSON_DEPTH)
        weir_json_open(j, "k", what == 0);
    else if (what == 2 && j->depth > 1)
        weir_json_close(j);
    else if (what == 3)
        weir_json_real(j, "real", as_real(take_number(data, size)));
    else if (what == 4)
        weir_json_int(j, "int", (int64_t)take_number(data, size));
    else
        add_text(j, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_str out = { 0 };
    struct weir_json j = { .out = &out, .flat = size > 0 ? data[0] % 5 : 0 };
    const char *at;

    weir_json_open(&j, NULL, size % 2 != 0);
    while (size > 0)
        add_member(&j, &data, &size);
    while (j.depth > 0)
        weir_json_close(&j);
    expect(!out.failed && !j.failed);
    at = weir_str_text(&out);
    read_value(&at);
    expect(*at == '\0');
    weir_str_free(&out);
    return 0;
}
