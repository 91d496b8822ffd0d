/* SPDX-License-Identifier: BSD-3-Clause */
/* test_openmetrics.c - labels of metrics: a label stands once in a sample */
#include "engine/report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct weir_sink_ops *const ops = &weir_sink_openmetrics;

static void put(struct weir_sink *s, const char *key, const char *value)
{
    ops->fact(s, &(struct weir_fact) { .key = key, .readers = WEIR_FOR_DATA, .type = WEIR_FACT_STR, .str = value });
}

/* How often a text stands in the line of a metric, of which there is one. */
static int count_in_line(const char *text, const char *metric, const char *what)
{
    const char *line = strstr(text, metric), *end;
    int n = 0;

    assert_non_null(line);
    end = strchr(line + 1, '\n'); /* a metric begins with that of the line before */
    assert_non_null(end);
    assert_null(strstr(end, metric));
    for (const char *at = strstr(line, what); at && at < end; at = strstr(at + 1, what))
        n++;
    return n;
}

static struct weir_sink begun(FILE *out)
{
    struct weir_sink s = { .ops = ops, .out = out, .path = "weir.prom" };

    assert_non_null(out);
    assert_int_equal(ops->begin(&s, NULL), 0);
    put(&s, "program", "ior");
    return s;
}

/* The job was ended by the watchdog, which writes the facts of the run that it knows. */
static void a_fact_that_comes_again_in_a_rescue_is_no_second_label(void **state)
{
    const struct weir_fact version = {
        .key = "Version", .readers = WEIR_FOR_DATA, .type = WEIR_FACT_STR, .str = "1.2"
    };
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct weir_sink s = begun(out);

    (void)state;
    put(&s, "Version", "1.2");
    put(&s, "Machine", "Linux");
    ops->end(&s, &version, 1, out);
    assert_int_equal(s.sys, 0);
    ops->release(&s, true);
    fclose(out);
    assert_int_equal(count_in_line(text, "\nweir_run_info{", "version=\"1.2\""), 1);
    assert_int_equal(count_in_line(text, "\nweir_run_info{", "machine=\"Linux\""), 1);
    free(text);
}

static void each_test_has_labels_of_its_own(void **state)
{
    static const char *const verdicts[] = { "SOUND", "SUSPECT" };
    char *text = NULL, line[64];
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct weir_sink s = begun(out);

    (void)state;
    ops->enter(&s, "tests", true);
    for (int i = 0; i < 2; i++) {
        ops->enter(&s, NULL, false);
        put(&s, "verdict", verdicts[i]);
        ops->leave(&s);
    }
    ops->leave(&s);
    ops->end(&s, NULL, 0, out);
    assert_int_equal(s.sys, 0);
    ops->release(&s, true);
    fclose(out);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof(line), "test=\"%d\",verdict=\"%s\"} 1.0\n", i, verdicts[i]);
        assert_non_null(strstr(text, line));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fact_that_comes_again_in_a_rescue_is_no_second_label),
        cmocka_unit_test(each_test_has_labels_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
