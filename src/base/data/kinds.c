/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c - kinds of data as users type them */
#include "base/data/pattern.h"

#include <string.h>

#include "base/size.h"
#include "base/str.h"

/* In the order of enum weir_packet. */
static const char letters[] = "toirs";

/* One word of len bytes, whose number ends with it. False: it is not known, was given before, or
 * its ratio is out of range. */
static bool read_word(const char *word, size_t len, struct weir_ratio *out)
{
    bool compress = strncmp(word, "compress=", 9) == 0, dedupe = strncmp(word, "dedupe=", 7) == 0;
    uint32_t *to = compress ? &out->compress : &out->dedupe;
    double ratio;

    if (!(compress || dedupe) || *to > 0 ||
        weir_real_scan(strchr(word, '=') + 1, &ratio) != word + len || !(ratio >= 1) ||
        ratio > WEIR_RATIO_MAX)
        return false;
    *to = (uint32_t)(ratio * WEIR_RATIO_ONE + 0.5);
    return true;
}

/* "compress=X,dedupe=Y", or one of them; what is not given is one. '+' stands for ','. */
static int read_words(const char *words, const char *option, struct weir_ratio *out,
                      struct weir_err *err)
{
    struct weir_ratio r = { 0 };
    const char *at = words;

    for (size_t len;; at += len + 1) {
        len = strcspn(at, ",+");
        if (!read_word(at, len, &r))
            return weir_refuse(err, WEIR_EUSAGE,
                               "option %s: '%.*s' after the colon: choose compress=X, dedupe=Y or "
                               "both, joined by a comma, each once and from 1 to %d",
                               option, (int)len, at, WEIR_RATIO_MAX);
        if (at[len] == '\0')
            break;
    }
    out->compress = r.compress ? r.compress : WEIR_RATIO_ONE;
    out->dedupe = r.dedupe ? r.dedupe : WEIR_RATIO_ONE;
    return 0;
}

/* "a, b or c" */
static int refuse_kind(const char *option, const char *text, const char *const *kinds,
                       struct weir_err *err)
{
    struct weir_str list = { 0 };
    int rc;

    for (int i = 0; kinds[i]; i++)
        weir_str_addf(&list, "%s%s", i == 0 ? "" : kinds[i + 1] ? ", " : " or ", kinds[i]);
    rc = weir_refuse(err, WEIR_EUSAGE, "option %s: '%s' is not known; choose %s", option, text,
                     weir_str_text(&list));
    weir_str_free(&list);
    return rc;
}

int weir_pattern_parse(struct weir_pattern *p, const char *option, const char *text,
                       const char *const *kinds, struct weir_err *err)
{
    const char *words = strchr(text, ':'), *letter = strchr(letters, text[0]);
    int i = 0;

    while (kinds[i] && kinds[i][0] != text[0])
        i++;
    if (!kinds[i] || !letter)
        return refuse_kind(option, text, kinds, err);
    p->packet = (enum weir_packet)(letter - letters);
    if (!words)
        return 0;
    if (p->packet != WEIR_PACKET_RANDOM)
        return weir_refuse(err, WEIR_EUSAGE,
                           "option %s: '%s': only random can have settings after a colon, "
                           "compress=X and dedupe=Y", option, text);
    p->packet = WEIR_PACKET_RATIO;
    return read_words(words + 1, option, &p->ratio, err);
}

const char *const weir_pattern_random[] = { "random", NULL };
