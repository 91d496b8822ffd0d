/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline-choice.c - which operations a timeline keeps */
#include "engine/observe/timeline.h"

#include <ctype.h>
#include <string.h>

#include "base/options/option.h"
#include "base/size.h"
#include "base/text/ranges.h"
#include "par/comm.h"

#define SAMPLE_MAX 1000000000
#define SLOWEST_MAX 100000
#define LEADERS "leaders"

/* A word: key=value. A number is from 'min' to 'max'; before: what stands in front of it. */
static const struct word {
    const char *key, *before, *form;
    size_t offset;
    int64_t min, max; /* both 0: the value is a list of ranks */
} words[] = {
#define FIELD(f) offsetof(struct weir_timeline_choice, f)
    { "sample", "1/", "sample=1/N, N from 1 to 1000000000", FIELD(sample), 1, SAMPLE_MAX },
    { "seed", "", "seed=N, a whole number from 0 on", FIELD(seed), 0, INT64_MAX },
    { "ranks", "", "ranks=LIST, like 0-63,128 or 0-4095:64, or leaders for the first rank of each node", FIELD(ranks), 0, 0 },
    { "slowest", "", "slowest=K, K from 1 to 100000", FIELD(slowest), 1, SLOWEST_MAX },
};

#define N_WORDS (sizeof(words) / sizeof(*words))

/* ---- ranks ---- */

bool weir_timeline_has_rank(const struct weir_timeline_choice *c, const struct weir_par *par)
{
    if (!c->ranks)
        return true;
    if (strcmp(c->ranks, LEADERS) == 0)
        return par->leader == par->rank;
    return weir_ranges_have(c->ranks, par->rank);
}

int weir_timeline_check_ranks(const struct weir_timeline_choice *c, int tasks, struct weir_err *err)
{
    const char *list = c->ranks && strcmp(c->ranks, LEADERS) != 0 ? c->ranks : "";
    struct weir_range r;

    while (weir_range_next(&list, &r))
        if (r.last >= tasks)
            return weir_refuse(err, WEIR_EUSAGE,
                               "option --timeline: 'ranks=%s': there is no rank %lld, the last one is %d",
                               c->ranks, (long long)r.last, tasks - 1);
    return 0;
}

/* ---- words ---- */

static int refuse_word(const char *text, const char *what, struct weir_err *err)
{
    return weir_refuse(err, WEIR_EUSAGE, "option --timeline: '%s' %s", text, what);
}

/* Bytes of the word at 'at'. A list of ranks has commas. */
static size_t length_of(const char *at)
{
    size_t n = strcspn(at, ",");

    while (strncmp(at, "ranks=", 6) == 0 && at[n] == ',' && isdigit((unsigned char)at[n + 1]))
        n += 1 + strcspn(at + n + 1, ",");
    return n;
}

static int read_word(const char *text, bool given[N_WORDS], struct weir_timeline_choice *out,
                     struct weir_err *err)
{
    size_t len = strcspn(text, "="), k = 0, before;
    const char *value = text + len + (text[len] == '=');
    const struct word *w;
    void *field;

    while (k < N_WORDS && (strlen(words[k].key) != len || memcmp(text, words[k].key, len) != 0))
        k++;
    if (k == N_WORDS)
        return refuse_word(text, "is not one of the words after the name of the file: sample=1/N, "
                                 "seed=N, ranks=LIST, slowest=K", err);
    w = &words[k];
    if (given[k])
        return refuse_word(text, "is given twice", err);
    given[k] = true;
    field = (char *)out + w->offset;
    before = strlen(w->before);
    if (w->max == 0 ? strcmp(value, LEADERS) != 0 && !weir_ranges_check(value)
                    : strncmp(value, w->before, before) != 0 ||
                          weir_size_parse(value + before, w->min, w->max, field, NULL) < 0)
        return weir_refuse(err, WEIR_EUSAGE, "option --timeline: '%s' is not %s", text, w->form);
    if (w->max == 0)
        memcpy(field, &value, sizeof(value));
    return 0;
}

int weir_timeline_choice_read(const char *value, struct weir_arena *arena,
                              struct weir_timeline_choice *out, struct weir_err *err)
{
    static const struct weir_opt row = { .ends = ".npy" };
    size_t len = weir_opt_file_length(&row, value);
    bool given[N_WORDS] = { false };

    *out = (struct weir_timeline_choice) { .path = weir_arena_strndup(arena, value, len, err) };
    if (!out->path)
        return -1;
    for (value += len; *value; value += len) {
        const char *word;

        len = length_of(++value);
        word = weir_arena_strndup(arena, value, len, err);
        if (!word || read_word(word, given, out, err) < 0)
            return -1;
    }
    if (out->seed && !out->sample)
        return weir_refuse(err, WEIR_EUSAGE, "option --timeline: seed=N is for a sample, sample=1/N");
    return 0;
}
