/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.c - the file of a timeline in NumPy's format */
#include "config.h"
#include "base/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREAMBLE 10 /* magic, version, length of the text after it */

static const char dtype[] = "[('begin', '<i8'), ('end', '<i8'), ('offset', '<i8'), "
                            "('bytes', '<i8'), ('rank', '<u4'), ('repetition', '<u4'), "
                            "('phase', '<u2'), ('operation', '<u2'), ('error', '<i4')]";

static unsigned char *put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

/* Blanks fill what the text leaves; a newline ends it. */
void weir_npy_header(char out[WEIR_NPY_HEADER], uint64_t n)
{
    static const unsigned char magic[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
    char text[WEIR_NPY_HEADER];
    int len =
        snprintf(text, sizeof(text),
                 "{'descr': %s, 'fortran_order': False, 'shape': (%" PRIu64 ",), }", dtype, n);

    memset(out, ' ', WEIR_NPY_HEADER);
    memcpy(out, magic, sizeof(magic));
    put((unsigned char *)out + sizeof(magic), WEIR_NPY_HEADER - PREAMBLE, 2);
    memcpy(out + PREAMBLE, text, (size_t)len);
    out[WEIR_NPY_HEADER - 1] = '\n';
}

void weir_npy_record(unsigned char out[WEIR_NPY_RECORD], const struct weir_npy_record *r)
{
    const int64_t longs[] = { r->begin, r->end, r->offset, r->bytes };

    for (int i = 0; i < 4; i++)
        out = put(out, (uint64_t)longs[i], 8);
    out = put(out, r->rank, 4);
    out = put(out, r->repetition, 4);
    out = put(out, r->phase, 2);
    out = put(out, r->operation, 2);
    put(out, (uint32_t)r->error, 4);
}
