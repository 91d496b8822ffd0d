/* SPDX-License-Identifier: BSD-3-Clause */
/* mdtest-leftovers.c - --cleanup DIR: what earlier runs left is known by its names */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

#include <ctype.h>
#include <string.h>

#include "engine/tidy.h"

static const char *skip_word(const char *at, const char *word)
{
    size_t len = strlen(word);

    return at && strncmp(at, word, len) == 0 ? at + len : NULL;
}

static const char *skip_number(const char *at)
{
    if (!at || !isdigit((unsigned char)*at))
        return NULL;
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

static bool is_end(const char *at)
{
    return at && *at == '\0';
}

static bool is_test(const char *name)
{
    return is_end(skip_number(skip_word(skip_number(skip_word(name, "test-dir.")), "-")));
}

static bool is_branch(const char *name)
{
    const char *at = skip_number(skip_word(name, "mdtest_tree."));

    return is_end(at) || is_end(skip_number(skip_word(at, ".")));
}

static bool is_item(const char *name, const char *word)
{
    const char *at = skip_word(name, word);
    const char *owner = skip_word(at, "shared");

    at = skip_number(skip_word(owner ? owner : skip_number(at), "."));
    return is_end(at) || is_end(skip_word(at, "-XX"));
}

static enum weir_tidy judge(const char *name, bool is_dir, int level)
{
    if (is_dir && (level == 0 ? is_test(name) : is_branch(name)))
        return WEIR_TIDY_TREE;
    if (level > 1 && is_item(name, is_dir ? "dir.mdtest." : "file.mdtest."))
        return WEIR_TIDY_OURS;
    return level > 0 ? WEIR_TIDY_FOREIGN : WEIR_TIDY_OTHER;
}

int mdtest_remove_leftovers(struct weir_run *run, const char *dir, struct weir_err *err)
{
    return weir_tidy(run, "mdtest", dir, judge, err);
}
