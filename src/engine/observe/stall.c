/* SPDX-License-Identifier: BSD-3-Clause */
/* stall.c - what the ranks of a node publish to each other, and which of them stand still */
#include "engine/observe/stall.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/node/processes.h"

#define STEP 5 /* polls: so much time counts at most between two of them */

static uint64_t get(const uint64_t *v)
{
    return __atomic_load_n(v, __ATOMIC_ACQUIRE);
}

static void put(uint64_t *v, uint64_t value)
{
    __atomic_store_n(v, value, __ATOMIC_RELEASE);
}

/* ---- what we show ---- */

/* Copy up to 'size' bytes of our own memory that another thread may give back during the copy.
 * The kernel copies, so memory that was freed causes no fault. Returns the number of bytes. */
static size_t copy_own(const char *from, char *to, size_t size)
{
    size_t first = WEIR_PAGE - (size_t)((uintptr_t)from % WEIR_PAGE);
    struct iovec local = { to, size }, remote[2];
    ssize_t n;

    if (first > size)
        first = size;
    remote[0] = (struct iovec) { (void *)(uintptr_t)from, first };
    remote[1] = (struct iovec) { (void *)((uintptr_t)from + first), size - first };
    n = process_vm_readv(getpid(), &local, 1, remote, size > first ? 2 : 1, 0);
    return n > 0 ? (size_t)n : 0;
}

/* A text of another thread; the end where it is longer than its place. */
static void copy_text(const char *from, char *to, size_t size)
{
    char text[WEIR_PAGE];
    size_t n = from ? copy_own(from, text, sizeof(text) - 1) : 0, len, skip = 0;

    text[n] = '\0';
    len = strlen(text);
    if (len >= size)
        skip = len - size + 1;
    memcpy(to, text + skip, len - skip + 1);
    if (skip > 0)
        memcpy(to, "...", 3);
}

static void copy_call(const struct weir_call *call, struct weir_stall_call *to)
{
    struct weir_io io = { .dir = WEIR_DIR_WRITE };
    const char *what;

    if (call->io) {
        copy_own((const char *)call->io, (char *)&io, sizeof(io));
        to->off = io.off;
        to->len = io.len;
        to->at = io.dir > WEIR_DIR_READ;
        what = weir_dir_names[(unsigned)io.dir < WEIR_DIRS ? io.dir : WEIR_DIR_READ];
        memcpy(to->what, what, strlen(what) + 1);
    } else {
        copy_text(call->what, to->what, sizeof(to->what));
        to->at = false;
    }
    copy_text(call->path, to->path, sizeof(to->path));
}

/* A call that began or ended while it was copied is shown at the next poll. */
static void show(struct weir_stall *s, const struct weir_call *call)
{
    struct weir_stall_call *to = &s->mine->call, now = { .version = get(&call->version) };

    if (now.version != s->version) {
        s->version = now.version;
        s->since_ns = s->now_ns;
    }
    if (now.version == to->version) {
        put(&to->age_ns, s->now_ns - s->since_ns);
        return;
    }
    if (now.version % 2 == 1) {
        copy_call(call, &now);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (get(&call->version) != now.version)
            return;
    }
    put(&s->mine->version, s->mine->version + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *to = now;
    put(&s->mine->version, s->mine->version + 1);
}

/* ---- what we see ---- */

static const struct weir_stall_slot *slot_of(const struct weir_stall *s, int i)
{
    return weir_shared_status_slot(s->shared, i);
}

/* Time without a heartbeat; 0 for ranks that are not watched. */
static uint64_t silence(const struct weir_stall *s, int i)
{
    return s->seen[i].beat == 0 ? 0 : s->now_ns - s->seen[i].at_ns;
}

int weir_stall_begin(struct weir_stall *s, const struct weir_shared_status *shared, int rank,
                     uint64_t poll_ns, uint64_t still_ns)
{
    *s = (struct weir_stall) { .shared = shared, .step_ns = STEP * poll_ns, .still_ns = still_ns };
    s->late_ns = 3 * poll_ns > WEIR_STALL_NS ? 3 * poll_ns : WEIR_STALL_NS;
    if (shared->count == 0)
        return -1;
    s->seen = calloc((size_t)shared->count, sizeof(*s->seen));
    if (!s->seen)
        return -1;
    s->mine = weir_shared_status_slot(shared, shared->mine);
    s->mine->rank = rank;
    s->mine->pid = (int64_t)getpid();
    s->mine->pids = (int64_t)weir_process_space();
    s->mine->child = 0;
    s->mine->call = (struct weir_stall_call) { 0 };
    s->last_ns = weir_now_ns();
    put(&s->mine->beat, s->mine->version + 1); /* another one than in the test before */
    return 0;
}

void weir_stall_end(struct weir_stall *s)
{
    if (s->mine)
        put(&s->mine->beat, 0);
    free(s->seen);
    *s = (struct weir_stall) { 0 };
}

/* True when a rank of the node has reported why the job ends. */
static bool is_over(const struct weir_stall *s)
{
    for (int i = 0; s->mine && i < s->shared->count; i++)
        if (get(&slot_of(s, i)->over))
            return true;
    return false;
}

/* The lowest slot with a heartbeat reports for its node; no rank does after one that ends the
 * job. */
static bool reports(const struct weir_stall *s)
{
    for (int i = 0; i < s->shared->mine; i++)
        if (s->seen[i].beat != 0 && silence(s, i) < s->late_ns)
            return false;
    return !is_over(s);
}

void weir_stall_child(struct weir_stall *s, int64_t child)
{
    if (s->mine)
        __atomic_store_n(&s->mine->child, child, __ATOMIC_RELEASE);
    while (child == 0 && is_over(s))
        pause();
}

void weir_stall_end_job(struct weir_stall *s)
{
    put(&s->mine->over, 1);
    for (int i = 0; i < s->shared->count; i++) {
        const struct weir_stall_slot *of = slot_of(s, i);
        int64_t child = __atomic_load_n(&of->child, __ATOMIC_ACQUIRE);

        if (child != 0 && of->pids == s->mine->pids)
            kill((pid_t)child, SIGKILL);
    }
}

/* The rank without a heartbeat for the longest time, and the rank whose call has lasted longest. */
static struct weir_stall_worst find_worst(const struct weir_stall *s)
{
    struct weir_stall_worst w = { .still = -1, .call = -1 };

    for (int i = 0; i < s->shared->count; i++) {
        const struct weir_stall_call *call = &slot_of(s, i)->call;
        uint64_t quiet = silence(s, i), age = get(&call->age_ns);

        if (quiet >= s->still_ns && quiet > w.still_ns) {
            w.still = i;
            w.still_ns = quiet;
        } else if (s->seen[i].beat != 0 && get(&call->version) % 2 == 1 && age > w.call_ns) {
            w.call = i;
            w.call_ns = age;
        }
    }
    return w;
}

bool weir_stall_poll(struct weir_stall *s, const struct weir_call *call,
                     struct weir_stall_worst *worst)
{
    uint64_t now = weir_now_ns(), passed = now > s->last_ns ? now - s->last_ns : 0;

    s->now_ns += passed < s->step_ns ? passed : s->step_ns;
    s->last_ns = now;
    show(s, call);
    put(&s->mine->beat, s->mine->beat + 1);
    for (int i = 0; i < s->shared->count; i++) { /* our own is always fresh */
        uint64_t beat = get(&slot_of(s, i)->beat);

        if (beat != s->seen[i].beat)
            s->seen[i] = (struct weir_stall_seen) { beat, s->now_ns };
    }
    if (!reports(s))
        return false;
    *worst = find_worst(s);
    return true;
}

/* ---- words ---- */

/* A copy in one piece, or the last try: its writer may have been stopped in the middle. */
static struct weir_stall_call read_call(const struct weir_stall_slot *slot)
{
    struct weir_stall_call call;

    for (int tries = 0; tries < 100; tries++) {
        uint64_t version = get(&slot->version);

        call = slot->call;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (version % 2 == 0 && get(&slot->version) == version)
            break;
    }
    call.what[sizeof(call.what) - 1] = call.path[sizeof(call.path) - 1] = '\0';
    return call;
}

static int name_call(const struct weir_stall_call *c, char *out, size_t size)
{
    if (c->len)
        return snprintf(out, size, "%s of %" PRIu64 " bytes at offset %" PRIu64 " of '%s'", c->what,
                        c->len, c->off, c->path);
    if (c->at)
        return snprintf(out, size, "%s of the object at offset %" PRIu64 " of '%s'", c->what,
                        c->off, c->path);
    return snprintf(out, size, "%s of '%s'", c->what, c->path);
}

/* The state of the process in the kernel's words, where we see the same processes; else "". */
static const char *state_of(const struct weir_stall *s, const struct weir_stall_slot *slot)
{
    struct weir_process p;

    if (slot->pids == 0 || slot->pids != s->mine->pids)
        return "";
    if (!weir_process_find((long)slot->pid, &p))
        return " is gone";
    switch (p.state) {
    case 'T':
        return " is stopped by a signal";
    case 't':
        return " is stopped by a debugger";
    case 'D':
        return " waits in the kernel";
    case 'Z':
        return " has ended";
    default:
        return "";
    }
}

void weir_stall_describe(const struct weir_stall *s, int slot, bool still, const char *host,
                         char *out, size_t size)
{
    const struct weir_stall_slot *of = slot_of(s, slot);
    struct weir_stall_call call = read_call(of);
    bool calls = !still || call.version % 2 == 1;
    char name[1024] = "outside of calls";
    int len = calls ? name_call(&call, name, sizeof(name)) : 0;

    if (len >= 0 && still)
        len = snprintf(out, size,
                       "rank %d on %s stands still: process %" PRId64
                       "%s, no heartbeat for %.1f seconds, last seen %s%s",
                       of->rank, host, of->pid, state_of(s, of),
                       (double)silence(s, slot) / WEIR_NS_PER_S, calls ? "in " : "", name);
    else if (len >= 0)
        len = snprintf(out, size, "rank %d on %s: %s has not returned for %.1f seconds", of->rank,
                       host, name, (double)call.age_ns / WEIR_NS_PER_S);
    if (len < 0)
        out[0] = '\0';
}
