/* SPDX-License-Identifier: BSD-3-Clause */
/* growing.c - a text file that grows at several places, and is a valid text between any two writes */
#include "config.h"
#include "base/text/growing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/wholefile.h"

#define WINDOW ((size_t)64 << 10) /* bytes that wait to be written */
#define PIECE 16384               /* that are copied at once */
#define ROOM_LEAST 8192           /* of each gap in a new file: it doubles what came in, else */
#define MOVE_MOST ((uint64_t)128 << 10) /* bytes that make way for a gap, without a new file */
#define BORROW_MOST ((uint64_t)64 << 10) /* of room that is not needed yet */

static void fail(struct weir_growing *g)
{
    if (g->sys == 0)
        g->sys = errno ? errno : EIO;
}

/* ---- the name ---- */

/* ".NAME.incomplete" beside the place, with a number of the process unless that is 0. A name that
 * is too long loses its end. malloc'ed. */
static char *name_beside(const char *place, long process)
{
    const char *slash = strrchr(place, '/'), *base = slash ? slash + 1 : place;
    struct weir_str text = { 0 }, end = { 0 };

    weir_str_addf(&end, process ? ".incomplete-%ld" : ".incomplete", process);
    weir_str_addf(&text, "%.*s.%.*s%s", (int)(base - place), place, NAME_MAX - 1 - (int)end.len,
                  base, weir_str_text(&end));
    text.failed |= end.failed;
    weir_str_free(&end);
    if (text.failed)
        weir_str_free(&text);
    return text.text;
}

/* Does another process write the file? A lock ends with its owner. File systems without locks do
 * not know: then the name goes to the new file, and the other one goes on without a name. */
static bool is_used(const char *name)
{
    int fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    bool used;

    if (fd < 0)
        return errno == EACCES;
    used = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return used;
}

/* Is the name still that of this file? Another process may have taken it. */
static bool is_ours(const struct weir_growing *g)
{
    struct stat ours, there;

    return fstat(fileno(g->out), &ours) == 0 && lstat(g->name, &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* A new file beside 'place', locked; its name in *name, which is NULL where it has none, as in memory. */
static FILE *new_file(const char *place, char **name)
{
    int fd;
    FILE *out;

    *name = NULL;
    fd = place ? weir_create_beside(place, name) : memfd_create("weir-report", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (place)
        (void)flock(fd, LOCK_EX | LOCK_NB);
    out = fdopen(fd, "r+");
    if (!out)
        close(fd);
    return out;
}

/* Forget a file that did not get the name. errno stays. */
static void discard(FILE *out, char *name)
{
    int reason = errno;

    if (out)
        fclose(out);
    if (name)
        unlink(name);
    free(name);
    errno = reason;
}

/* ---- bytes ---- */

static int write_at(int fd, const char *text, size_t len, uint64_t at)
{
    while (len > 0) {
        ssize_t n = pwrite(fd, text, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        text += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

void weir_growing_flush(struct weir_growing *g)
{
    struct weir_str *w = &g->window;

    if (w->failed) {
        errno = ENOMEM;
        fail(g);
    }
    if (g->sys == 0 && w->len > 0 && write_at(fileno(g->out), w->text, w->len, g->from) < 0)
        fail(g);
    weir_str_clear(w);
    if (w->cap > 2 * WINDOW || w->failed)
        weir_str_free(w);
}

/* Texts that follow or cover each other are one write. */
static void put(struct weir_growing *g, uint64_t at, const struct weir_str *text)
{
    struct weir_str *w = &g->window;
    size_t skip, over;

    if (at < g->from || at > g->from + w->len || w->len > WINDOW)
        weir_growing_flush(g);
    if (w->len == 0)
        g->from = at;
    skip = (size_t)(at - g->from);
    over = w->len - skip < text->len ? w->len - skip : text->len;
    if (over > 0)
        memcpy(w->text + skip, text->text, over);
    weir_str_add(w, weir_str_text(text) + over, text->len - over);
}

static size_t squeeze(char *text, size_t len)
{
    size_t kept = 0;

    for (size_t i = 0; i < len; i++)
        if (text[i] != WEIR_GROWING_TAB)
            text[kept++] = text[i];
    return kept;
}

/* Append the bytes in [from, to) without room to 'out', up to the end of the file. Returns how many
 * were written. */
static uint64_t copy(struct weir_growing *g, uint64_t from, uint64_t to, FILE *out)
{
    uint64_t written = 0;
    char piece[PIECE];

    while (from < to && g->sys == 0) {
        size_t most = to - from < PIECE ? (size_t)(to - from) : PIECE, len;
        ssize_t n = pread(fileno(g->out), piece, most, (off_t)from);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            fail(g);
        if (n <= 0)
            break;
        len = squeeze(piece, (size_t)n);
        errno = 0;
        if (fwrite(piece, 1, len, out) != len)
            fail(g);
        written += len;
        from += (uint64_t)n;
    }
    return written;
}

void weir_growing_copy(struct weir_growing *g, uint64_t from, FILE *out)
{
    weir_growing_flush(g);
    copy(g, from, UINT64_MAX, out);
}

/* ---- more room ---- */

/* The next gap that has room for 'need' bytes, not far away. */
static struct weir_gap *find_room(const struct weir_gap *gap, uint64_t need)
{
    struct weir_gap *next = gap->next;

    while (next && next->end - next->at - next->kept < need)
        next = next->next;
    return next && next->at - gap->end <= MOVE_MOST ? next : NULL;
}

static void read_into(struct weir_growing *g, uint64_t from, uint64_t to, struct weir_str *text)
{
    char piece[PIECE];

    while (from < to && g->sys == 0) {
        size_t most = to - from < PIECE ? (size_t)(to - from) : PIECE;
        ssize_t n = pread(fileno(g->out), piece, most, (off_t)from);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fail(g);
            return;
        }
        weir_str_add(text, piece, (size_t)n);
        from += (uint64_t)n;
    }
}

/* Moves the bytes between a gap and the next one with room into that room, by one write. False: there
 * is none, and nothing was changed. */
static bool borrow(struct weir_growing *g, struct weir_gap *gap, uint64_t need)
{
    struct weir_gap *next = find_room(gap, need);
    struct weir_str text = { 0 };
    uint64_t more, half, end;

    if (!next)
        return false;
    weir_growing_flush(g);
    half = (next->end - next->at - next->kept) / 2;
    more = need + (gap->inside < BORROW_MOST ? gap->inside : BORROW_MOST);
    more = more < half ? more : half > need ? half : need;
    end = next->at + next->kept;
    for (uint64_t i = 0; i < more; i++)
        weir_str_addc(&text, WEIR_GROWING_TAB);
    read_into(g, gap->end, end, &text);
    if (text.failed) {
        errno = ENOMEM;
        fail(g);
    }
    if (g->sys == 0)
        put(g, gap->end, &text);
    weir_str_free(&text);
    for (struct weir_gap *moved = gap->next; moved != next; moved = moved->next) {
        moved->at += more;
        moved->end += more;
    }
    next->at += more;
    gap->end += more;
    return true;
}

/* Write the file again, with room at each gap, and at one for 'need' bytes. moved: the gaps, in
 * their order. */
static void copy_with_room(struct weir_growing *g, const struct weir_gap *wide, uint64_t need,
                           struct weir_gap *moved, FILE *out)
{
    uint64_t from = 0, at = 0;

    for (const struct weir_gap *gap = g->first; gap; gap = gap->next, moved++) {
        uint64_t room = gap->inside > ROOM_LEAST ? gap->inside : ROOM_LEAST;

        room += gap == wide ? need : 0;
        moved->at = at += copy(g, from, gap->at, out);
        at += copy(g, gap->at, gap->end, out);
        for (uint64_t i = 0; i < room; i++)
            putc(WEIR_GROWING_TAB, out);
        moved->end = at += room;
        from = gap->end;
    }
    copy(g, from, UINT64_MAX, out);
    errno = 0;
    if (fflush(out) != 0 || ferror(out))
        fail(g);
}

static struct weir_gap *room_for_gaps(const struct weir_growing *g)
{
    size_t n = 0;

    for (const struct weir_gap *gap = g->first; gap; gap = gap->next)
        n++;
    return calloc(n, sizeof(struct weir_gap));
}

/* Let the new file go on, under the name of the old one: a reader finds one or the other. */
static void take_over(struct weir_growing *g, const struct weir_gap *moved, FILE *out, char *name)
{
    if (g->name && is_ours(g)) {
        if (weir_name_beside(fileno(out), g->name, &name) < 0 || rename(name, g->name) < 0)
            fail(g);
    } else if (name) {
        unlink(name);
    }
    if (g->sys != 0) {
        discard(out, name);
        return;
    }
    for (struct weir_gap *gap = g->first; gap; gap = gap->next, moved++) {
        gap->at = moved->at;
        gap->end = moved->end;
    }
    fclose(g->out);
    g->out = out;
    free(name);
}

static void widen(struct weir_growing *g, const struct weir_gap *wide, uint64_t need)
{
    struct weir_gap *moved;
    char *name = NULL;
    FILE *out;

    weir_growing_flush(g);
    moved = room_for_gaps(g);
    out = moved ? new_file(g->name, &name) : NULL;
    if (!out)
        fail(g);
    else
        copy_with_room(g, wide, need, moved, out);
    if (g->sys == 0)
        take_over(g, moved, out, name);
    else
        discard(out, name);
    free(moved);
}

/* ---- gaps ---- */

void weir_growing_gap(struct weir_growing *g, struct weir_gap *gap, struct weir_gap *in,
                      uint64_t at, uint64_t end)
{
    struct weir_gap **link = &g->first;

    while (*link != in)
        link = &(*link)->next;
    *link = gap;
    *gap = (struct weir_gap) { .at = at, .end = end, .next = in };
    in->inside -= end - at;
}

void weir_growing_drop(struct weir_growing *g, struct weir_gap *gap, struct weir_gap *in)
{
    struct weir_gap **link = &g->first;

    while (*link != gap)
        link = &(*link)->next;
    *link = gap->next;
    in->inside += gap->inside;
}

uint64_t weir_growing_insert(struct weir_growing *g, struct weir_gap *gap,
                             const struct weir_str *text, size_t keep)
{
    uint64_t at;

    if (text->failed) {
        errno = ENOMEM;
        fail(g);
    }
    if (g->sys == 0 && gap->end - gap->at < text->len && !borrow(g, gap, text->len))
        widen(g, gap, text->len);
    if (g->sys != 0)
        return gap->at;
    at = gap->at;
    put(g, at, text);
    gap->at += text->len - keep;
    gap->kept = keep;
    gap->inside += text->len - keep;
    return at;
}

void weir_growing_shut(struct weir_growing *g, struct weir_gap *gap, struct weir_gap *in,
                       struct weir_str *text, size_t keep)
{
    uint64_t next = gap->at + text->len - keep;

    if (in->at == gap->end + 1) {
        while (!text->failed && gap->at + text->len < in->at + keep)
            weir_str_addc(text, WEIR_GROWING_TAB);
        if (g->sys == 0 && !text->failed) {
            put(g, gap->at, text);
            in->at = next;
        }
    }
    weir_growing_drop(g, gap, in);
}

/* ---- the file ---- */

static int take_name(struct weir_growing *g, const char *place, char **made)
{
    g->name = name_beside(place, 0);
    if (g->name && is_used(g->name)) {
        free(g->name);
        g->name = name_beside(place, (long)getpid());
    }
    return g->name && weir_name_beside(fileno(g->out), place, made) == 0 ? rename(*made, g->name) : -1;
}

int weir_growing_open(struct weir_growing *g, const char *place, const struct weir_str *text,
                      struct weir_gap *gap, struct weir_err *err)
{
    char *made;
    int rc;

    *g = (struct weir_growing) { .first = gap };
    g->out = new_file(place, &made);
    rc = g->out && !text->failed ? write_at(fileno(g->out), text->text, text->len, 0) : -1;
    if (rc == 0 && place)
        rc = take_name(g, place, &made);
    if (rc == 0) {
        free(made);
        return 0;
    }
    weir_fail(err, WEIR_ESETUP, "begin the document of '%s'%s%s%s", place ? place : "standard output",
              g->name ? " in '" : "", g->name ? g->name : "", g->name ? "'" : "");
    discard(g->out, made);
    g->out = NULL;
    weir_growing_close(g, true);
    return -1;
}

void weir_growing_close(struct weir_growing *g, bool keep)
{
    if (g->out && keep)
        weir_growing_flush(g);
    if (g->out && g->name && !keep && is_ours(g))
        unlink(g->name);
    if (g->out)
        fclose(g->out);
    free(g->name);
    weir_str_free(&g->window);
    *g = (struct weir_growing) { .name = NULL };
}
