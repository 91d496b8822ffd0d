/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.h - arenas for what lives as long as a run, and page-aligned transfer buffers */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A set of allocations that are freed together. Zero-initialise; release with weir_arena_free. */
struct weir_arena {
    struct weir_arena_piece *first;
};

/* len zeroed bytes owned by the arena, aligned for any type. Local. NULL and err (WEIR_ESETUP)
 * when memory is out. */
void *weir_arena_alloc(struct weir_arena *a, size_t len, struct weir_err *err);

/* Copies owned by the arena: a string; len bytes and a final NUL. NULL and err when memory is
 * out. */
char *weir_arena_strdup(struct weir_arena *a, const char *s, struct weir_err *err);
char *weir_arena_strndup(struct weir_arena *a, const char *s, size_t len, struct weir_err *err);
/* As weir_arena_strdup, of a formatted text. */
char *weir_arena_textf(struct weir_arena *a, struct weir_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Free everything; the arena is empty and usable again. */
void weir_arena_free(struct weir_arena *a);

/* Bytes of a page, and of a huge one. */
#define WEIR_PAGE ((size_t)4096)
#define WEIR_HUGE ((size_t)2 << 20)

/* Allocate len bytes (rounded up) aligned to align (a power of two), touched so that no page fault is left for the timed part. With WEIR_HUGE or more they
 * are in huge pages, as far as the kernel has some. A transfer is then one piece of memory for a device, not one for each 4 KiB. The caller frees *out
 * with free(). Returns 0, or -1 and err (WEIR_ESETUP). */
int weir_mem_aligned(void **out, size_t align, size_t len, struct weir_err *err);

/* Reserve memory for entry n, from 0, of 'size' bytes in a list of realloc with *capacity entries: 'list' is the
 * address of the pointer. It doubles. Local. False: no memory, and the list is as it was. */
bool weir_mem_reserve(void *list, size_t n, size_t *capacity, size_t size);
