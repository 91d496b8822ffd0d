/* SPDX-License-Identifier: BSD-3-Clause */
/* assume.c - rates of --assume-rate: one for all, or those of an earlier result */
#include "config.h"
#include "engine/assume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonscan.h"
#include "base/size.h"
#include "engine/run.h"
#include "engine/settings.h"
#include "engine/test.h"

/* An entry of "rates" as far as it was read. */
struct entry {
    struct weir_assumed *to;
    char key[WEIR_ASSUMED_KEY], unit[WEIR_ASSUMED_KEY];
    double median;
};

static void copy_text(char to[WEIR_ASSUMED_KEY], const char *text)
{
    size_t len = strlen(text);

    if (len >= WEIR_ASSUMED_KEY) /* of no phase that moves bytes */
        len = 0;
    memcpy(to, text, len);
    to[len] = '\0';
}

static void keep(const struct entry *e)
{
    struct weir_assumed *a = e->to;
    int i = 0;

    if (!e->key[0] || strcmp(e->unit, "bytes/s") != 0 || !(e->median > 0) || isinf(e->median))
        return;
    while (i < a->n && strcmp(a->of[i].key, e->key) != 0)
        i++;
    if (i == WEIR_ASSUMED_KINDS)
        return;
    a->n += i == a->n;
    copy_text(a->of[i].key, e->key);
    a->of[i].rate = e->median;
}

static void take(void *to, const struct weir_json_value *v)
{
    static const char rates[] = "tests.rates";
    struct entry *e = to;
    const char *key = v->path + strlen(rates);

    if (strncmp(v->path, rates, strlen(rates)) != 0)
        return;
    if (v->kind == WEIR_JSON_END && *key == '\0') {
        keep(e);
        *e = (struct entry) { .to = e->to };
    } else if (v->kind == WEIR_JSON_TEXT && strcmp(key, ".operation") == 0) {
        copy_text(e->key, v->text);
    } else if (v->kind == WEIR_JSON_TEXT && strcmp(key, ".unit") == 0) {
        copy_text(e->unit, v->text);
    } else if (v->kind == WEIR_JSON_NUMBER && strcmp(key, ".median") == 0) {
        e->median = v->number;
    }
}

int weir_assumed_scan(struct weir_assumed *a, const char *json, struct weir_err *err)
{
    struct entry e = { .to = a };

    *a = (struct weir_assumed) { .any = 0 };
    if (weir_json_scan(json, take, &e, err) < 0)
        return -1;
    if (a->n > 0)
        return 0;
    return weir_refuse(err, WEIR_EUSAGE,
                       "it has no rate in bytes/s; a JSON result of a program that moves data "
                       "is needed (--report=json:FILE)");
}

int weir_assumed_read(struct weir_run *run, const char *value, struct weir_assumed *a,
                      struct weir_err *err)
{
    struct weir_shared_text file = { .what = "result", .path = value, .must_be = true };
    int64_t size;
    int rc;

    *a = (struct weir_assumed) { .any = 0 };
    if (!value)
        return 0;
    if (!run->test->plan.options->dry_run) {
        weir_note(&run->log, "option --assume-rate has no effect without --dry-run");
        return 0;
    }
    if (weir_size_parse(value, INT64_MIN, INT64_MAX, &size, NULL) == 0) {
        if (size <= 0)
            return weir_refuse(err, WEIR_EUSAGE,
                               "option --assume-rate: '%s' is no rate; give bytes in a second, like "
                               "2g, or a JSON result",
                               value);
        a->any = (double)size;
        return 0;
    }
    rc = weir_shared_text_read(&run->world, &file, err);
    if (rc < 0)
        weir_err_within(err, "option --assume-rate: '%s' is no size like 2g", value);
    else if ((rc = weir_assumed_scan(a, file.text, err)) < 0)
        weir_err_within(err, "option --assume-rate: '%s'", value);
    free(file.text);
    return rc;
}

double weir_assumed_rate(const struct weir_assumed *a, const char *key)
{
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->of[i].key, key) == 0)
            return a->of[i].rate;
    return a->any > 0 ? a->any : NAN;
}
