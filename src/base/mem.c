/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.c - arenas and page-aligned transfer buffers */
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/size.h"

/* One allocation of an arena. Arenas hold options and names: few and small, so each has
 * its own calloc and every overrun is visible to the sanitizers. */
struct weir_arena_piece {
    struct weir_arena_piece *next;
    max_align_t data[];
};

void *weir_arena_alloc(struct weir_arena *a, size_t len, struct weir_err *err)
{
    struct weir_arena_piece *piece = NULL;
    size_t all;

    if (__builtin_add_overflow(sizeof(*piece), len, &all))
        errno = ENOMEM;
    else
        piece = calloc(1, all);
    if (!piece) {
        weir_fail(err, WEIR_ESETUP, "allocate %zu bytes", len);
        return NULL;
    }
    piece->next = a->first;
    a->first = piece;
    return piece->data;
}

char *weir_arena_strndup(struct weir_arena *a, const char *s, size_t len, struct weir_err *err)
{
    /* one for the NUL, or none where the length alone is refused */
    size_t capacity = len < SIZE_MAX ? len + 1 : len;
    char *copy = weir_arena_alloc(a, capacity, err);

    if (copy && len > 0)
        memcpy(copy, s, len);
    return copy;
}

char *weir_arena_strdup(struct weir_arena *a, const char *s, struct weir_err *err)
{
    return weir_arena_strndup(a, s, strlen(s), err);
}

char *weir_arena_textf(struct weir_arena *a, struct weir_err *err, const char *fmt, ...)
{
    char *text;
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    text = weir_arena_alloc(a, (size_t)len + 1, err);
    va_start(ap, fmt);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return text;
}

void weir_arena_free(struct weir_arena *a)
{
    while (a->first) {
        struct weir_arena_piece *next = a->first->next;

        free(a->first);
        a->first = next;
    }
}

int weir_mem_aligned(void **out, size_t align, size_t len, struct weir_err *err)
{
    char size[WEIR_SIZE_TEXT];
    size_t all;
    int rc;

    *out = NULL;
    if (align == 0 || (align & (align - 1)) != 0)
        return weir_refuse(err, WEIR_EBUG, "alignment %zu for %zu bytes is not a power of two",
                           align, len);
    if (align < sizeof(void *))
        align = sizeof(void *);
    if (len == 0)
        len = 1;
    if (__builtin_add_overflow(len, align - 1, &all))
        rc = ENOMEM;
    else
        rc = posix_memalign(out, align, all & ~(align - 1));
    if (rc != 0) {
        *out = NULL;
        errno = rc;
        return weir_fail(err, WEIR_ESETUP, "allocate %s aligned to %zu",
                         weir_size_show(len > INT64_MAX ? INT64_MAX : (int64_t)len, size), align);
    }
    if (align >= WEIR_HUGE)
        madvise(*out, all & ~(align - 1), MADV_HUGEPAGE); /* a wish: EINVAL where there are none */
    memset(*out, 0, all & ~(align - 1));
    return 0;
}

bool weir_mem_reserve(void *list, size_t n, size_t *capacity, size_t size)
{
    size_t wanted = *capacity ? *capacity : 4;
    void *more;

    if (n < *capacity)
        return true;
    while (wanted <= n)
        wanted *= 2;
    if (wanted > PTRDIFF_MAX / size)
        return false;
    memcpy(&more, list, sizeof(more));
    more = realloc(more, wanted * size);
    if (!more)
        return false;
    memcpy(list, &more, sizeof(more));
    *capacity = wanted;
    return true;
}
