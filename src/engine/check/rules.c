/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c - the judgement by the rules, and the limits that a user has changed */
#include "engine/check/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/size.h"
#include "base/text/quote.h"
#include "engine/options.h"

const struct weir_rule *weir_rule_at(int i)
{
    static const struct weir_rule *const files[WEIR_RULES_FILES] = {
        weir_rules_data, weir_rules_series, weir_rules_run, weir_rules_objects
    };

    for (int k = 0; k < WEIR_RULES_FILES; k++)
        for (const struct weir_rule *r = files[k]; r->id; r++)
            if (i-- == 0)
                return r;
    return NULL;
}

/* ---- names ---- */

const char *weir_severity_name(enum weir_severity severity)
{
    static const char *const names[] = { "none", "NOTE", "SUSPECT", "INVALID" };

    return names[severity];
}

const char *weir_verdict_name(enum weir_severity worst)
{
    return worst < WEIR_SUSPECT ? "SOUND" : weir_severity_name(worst);
}

int weir_findings_shown(const char *value)
{
    static const char *const none[] = { "0", "no", "off", "false", NULL };
    static const char *const some[] = { "", "1", "yes", "on", "true", NULL };

    if (!value || weir_opt_choice(none, value) >= 0)
        return 0;
    if (weir_opt_choice(some, value) >= 0)
        return 8;
    return strcasecmp(value, "all") == 0 ? WEIR_RULES : -1;
}

/* ---- limits ---- */

/* A limit of len bytes, of which the first 'id' name no rule. */
static int refuse_rule(const char *word, size_t len, size_t id, struct weir_err *err)
{
    const char *ids[WEIR_RULES + 1] = { NULL };
    const struct weir_rule *r;

    for (int i = 0; (r = weir_rule_at(i)); i++)
        ids[i] = r->id;
    weir_refuse(err, WEIR_EUSAGE, "option --limit: '%.*s' names no rule (--help=trust lists them)",
                (int)len, word);
    return weir_near_ask(err, word, id, ids);
}

static int parse_limit(struct weir_limits *l, const char *word, size_t len, struct weir_err *err)
{
    size_t id = strcspn(word, ":,+");
    const struct weir_rule *r;
    const char *end = word;
    double value = NAN;
    int i = 0;

    while ((r = weir_rule_at(i)) && (strlen(r->id) != id || strncasecmp(r->id, word, id) != 0))
        i++;
    if (!r)
        return refuse_rule(word, len, id, err);
    if (word[id] == ':')
        end = weir_real_scan(word + id + 1, &value);
    if (end == word + id + 1 || end != word + len || !isfinite(value) || value < 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option --limit: '%.*s' is not ID:NUMBER, like H01:30 (unit: %s)",
                           (int)len, word, r->unit);
    l->limit[i] = value;
    return 0;
}

int weir_limits_parse(struct weir_limits *l, const char *text, struct weir_err *err)
{
    for (int i = 0; i < WEIR_RULES; i++)
        l->limit[i] = NAN;
    for (bool more = text && *text; more;) {
        size_t len = strcspn(text, ",+"); /* a script has other plans with commas */

        if (parse_limit(l, text, len, err) < 0)
            return -1;
        more = text[len] != '\0';
        text += len + more;
    }
    return 0;
}

/* ---- judgement ---- */

void weir_finding_set(struct weir_finding *out, double value, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(out->text, sizeof(out->text), fmt, ap);
    va_end(ap);
    out->value = value;
    out->outcome = WEIR_FINE; /* until it is compared */
}

void weir_finding_unknown(struct weir_finding *out, const char *why)
{
    weir_finding_set(out, NAN, "because %s", why);
    out->outcome = WEIR_NOT_JUDGED;
}

void weir_finding_suspect(struct weir_finding *out)
{
    out->severity = out->severity > WEIR_SUSPECT ? out->severity : WEIR_SUSPECT;
}

/* Return why the test has nothing that the rule could judge; NULL: it has. */
static const char *is_missing(const struct weir_inputs *f, unsigned needs)
{
    if ((needs & WEIR_NEEDS_OBJECTS) && !f->objects)
        return WEIR_NO_OBJECTS;
    if ((needs & WEIR_NEEDS_READS) && !weir_inputs_have(f, WEIR_MOVES_IN))
        return WEIR_NO_READ;
    if ((needs & WEIR_NEEDS_WRITES) && !weir_inputs_have(f, WEIR_MOVES_OUT))
        return WEIR_NO_WRITE;
    if ((needs & WEIR_NEEDS_DATA) && !weir_inputs_have(f, WEIR_MOVES_BOTH))
        return WEIR_NO_DATA;
    return (needs & WEIR_NEEDS_STORED) && f->stores == 0 ? WEIR_NOT_STORED : NULL;
}

const struct weir_inputs_phase *weir_rule_extreme(const struct weir_inputs *f, size_t member,
                                                  int sign, bool (*only)(const struct weir_inputs_phase *))
{
    const struct weir_inputs_phase *found = NULL;
    double most = NAN;

    for (int i = 0; i < f->phases; i++) {
        const struct weir_inputs_phase *p = &f->phase[i];
        double x = sign * WEIR_RULE_MEMBER(double, p, member);

        if (!isnan(x) && (!only || only(p)) && !(x <= most)) {
            found = p;
            most = x;
        }
    }
    return found;
}

/* The value that the row names, or none. */
static void read_member(const struct weir_rule *r, const struct weir_inputs *f,
                        struct weir_finding *out)
{
    bool of_phase = r->from == WEIR_VALUE_PHASE;
    const struct weir_inputs_phase *p = of_phase ? weir_rule_extreme(f, r->member, 1, NULL) : NULL;
    double value = of_phase ? (p ? WEIR_RULE_MEMBER(double, p, r->member) : NAN)
                            : WEIR_RULE_MEMBER(double, f, r->member);

    if (r->from != WEIR_VALUE_TEST)
        value *= 100;
    if (!isnan(value))
        weir_finding_set(out, value, r->text, value, p ? p->key : "");
}

static void read_flag(const struct weir_rule *r, const struct weir_inputs *f, struct weir_finding *out)
{
    int flag = WEIR_RULE_MEMBER(int, f, r->member);
    bool found = r->from == WEIR_VALUE_IS ? flag != 0 : flag == 0;

    if (flag >= 0)
        weir_finding_set(out, found, "%s", found ? r->text : r->text_not);
}

static void measure(const struct weir_rule *r, const struct weir_inputs *f, struct weir_finding *out)
{
    const char *why = is_missing(f, r->needs);

    if (why)
        weir_finding_unknown(out, why);
    else if (r->measure)
        r->measure(f, out);
    if (out->text[0] || r->from == WEIR_VALUE_NONE)
        ;
    else if (r->from == WEIR_VALUE_IS || r->from == WEIR_VALUE_IS_NOT)
        read_flag(r, f, out);
    else
        read_member(r, f, out);
    if (!out->text[0])
        weir_finding_unknown(out, r->cached && f->cache_why && weir_inputs_have(f, WEIR_MOVES_BOTH)
                                      ? f->cache_why
                                      : r->unknown);
}

static bool is_beyond(const struct weir_finding *f, double limit)
{
    return f->below ? f->value < limit : f->value > limit;
}

static void judge(const struct weir_inputs *f, const struct weir_rule *r, enum weir_rule_set set,
                  double own_limit, struct weir_finding *out)
{
    const struct weir_level *at = &r->at[set];

    *out = (struct weir_finding) { .rule = r,
                                   .set = set,
                                   .below = r->below,
                                   .severity = at->severity,
                                   .limit = isnan(own_limit) ? at->limit : own_limit,
                                   .unit = at->unit ? at->unit : r->unit,
                                   .brief = r->brief,
                                   .more = r->cached ? f->cache_hides : NULL };
    measure(r, f, out);
    if (out->outcome == WEIR_NOT_JUDGED)
        return;
    if (is_beyond(out, out->limit))
        out->outcome = WEIR_FOUND;
    if (out->outcome == WEIR_FOUND && set == WEIR_RULES_DEFAULT && r->worse.severity != WEIR_SOUND &&
        is_beyond(out, r->worse.limit)) {
        out->severity = r->worse.severity;
        out->limit = isnan(own_limit) ? r->worse.limit : own_limit;
    }
    if (out->outcome == WEIR_FINE && out->more)
        weir_finding_unknown(out, out->more);
}

int weir_findings_judge(const struct weir_inputs *f, enum weir_rule_set set,
                        const struct weir_limits *limits, struct weir_finding out[WEIR_RULES])
{
    const struct weir_rule *r;
    int n = 0;

    for (int i = 0; set < WEIR_RULES_NONE && (r = weir_rule_at(i)); i++)
        if (r->at[set].severity != WEIR_SOUND)
            judge(f, r, set, limits ? limits->limit[i] : NAN, &out[n++]);
    return n;
}
