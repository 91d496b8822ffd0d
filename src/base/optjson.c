/* SPDX-License-Identifier: BSD-3-Clause */
/* optjson.c - the option rows as JSON */
#include "config.h"
#include "base/optdump.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/optset.h"

/* A name with its prefix as a JSON string, or null. */
static void json_name(const struct weir_optset *set, const char *name, struct weir_str *out)
{
    char full[WEIR_OPT_NAME];

    weir_str_add_json(out, name == NULL ? NULL : weir_opt_fullname(set, name, full));
}

static void json_range(const struct weir_opt *row, struct weir_str *out)
{
    int64_t min, max;

    if (row->type == WEIR_OPT_COUNT || row->type == WEIR_OPT_INT || row->type == WEIR_OPT_SIZE) {
        weir_opt_range(row, &min, &max);
        weir_str_addf(out, "\"min\": %" PRId64 ", \"max\": %" PRId64, min, max);
    } else {
        weir_str_addf(out, "\"min\": null, \"max\": null");
    }
}

static void json_choices(const struct weir_opt *row, struct weir_str *out)
{
    weir_str_addf(out, ", \"choices\": %s", row->choices == NULL ? "null" : "[");
    for (const char *const *c = row->choices; c != NULL && *c != NULL; c++) {
        weir_str_addf(out, "%s", c == row->choices ? "" : ", ");
        weir_str_add_json(out, *c);
    }
    weir_str_addf(out, "%s", row->choices == NULL ? "" : "]");
}

static void json_row(const struct weir_optset *set, const struct weir_opt *row,
                     struct weir_str *out)
{
    static const char *const types[] = {
        [WEIR_OPT_FLAG] = "flag", [WEIR_OPT_COUNT] = "count", [WEIR_OPT_INT] = "int",
        [WEIR_OPT_SIZE] = "size", [WEIR_OPT_STR] = "string",  [WEIR_OPT_DIRECTIVES] = "directives",
        [WEIR_OPT_OLD] = "old",   [WEIR_OPT_GONE] = "gone",
    };
    const char letter[] = { row->letter, '\0' };

    weir_str_addf(out, "  {\"table\": ");
    weir_str_add_json(out, set->title);
    weir_str_addf(out, ", \"type\": \"%s\", \"letter\": ", types[row->type]);
    weir_str_add_json(out, row->letter != 0 ? letter : NULL);
    weir_str_addf(out, ", \"name\": ");
    json_name(set, row->name, out);
    weir_str_addf(out, ", \"keys\": [");
    if (row->key != NULL)
        json_name(set, row->key, out);
    if (row->key2 != NULL) {
        weir_str_addf(out, "%s", row->key != NULL ? ", " : "");
        json_name(set, row->key2, out);
    }
    weir_str_addf(out, "], \"default\": ");
    weir_str_add_json(out, row->def);
    weir_str_addf(out, ", ");
    json_range(row, out);
    json_choices(row, out);
    weir_str_addf(out, ", \"help\": ");
    weir_str_add_json(out, row->help);
    weir_str_addc(out, '}');
}

void weir_optdump_json(const struct weir_opts *o, struct weir_str *out)
{
    bool is_first = true;

    weir_str_addf(out, "[\n");
    for (int i = 0; i < o->n; i++) {
        for (const struct weir_opt *row = o->set[i].rows; !weir_opt_is_end(row); row++) {
            weir_str_addf(out, "%s", is_first ? "" : ",\n");
            is_first = false;
            json_row(&o->set[i], row, out);
        }
    }
    weir_str_addf(out, "\n]\n");
}
