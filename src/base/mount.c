/* SPDX-License-Identifier: BSD-3-Clause */
/* mount.c - on which mount a path lies */
#include "config.h"
#include "base/mount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The nearest part of the path that exists, resolved; malloc'ed, NULL when there is none. */
static char *resolve(const char *path)
{
    struct weir_str part = { 0 };
    char *real = NULL, *slash;

    if (path[0] != '/')
        weir_str_addf(&part, "./");
    weir_str_addf(&part, "%s", path);
    while (part.text && !(real = realpath(part.text, NULL)) && (slash = strrchr(part.text, '/'))) {
        if (slash == part.text) {
            real = realpath("/", NULL);
            break;
        }
        *slash = '\0';
    }
    weir_str_free(&part);
    return real;
}

/* Is the path at or below the mount point? Its length then, else 0. */
static size_t covers(const char *point, const char *path)
{
    size_t len = strlen(point);

    if (strncmp(point, path, len) != 0)
        return 0;
    return len == 1 || path[len] == '/' || path[len] == '\0' ? len : 0;
}

/* Blanks, tabs, newlines and backslashes of a mount point stand as "\040" and the like in
 * mountinfo. In place. */
static void decode_octal(char *text)
{
    char *to = text;

    for (; *text; to++) {
        if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
            *to = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *to = *text++;
        }
    }
    *to = '\0';
}

/* One line of mountinfo (proc(5)): field 5 is the mount point; behind " - " stands the type. Later
 * lines win. */
static void look_at(char *line, const char *path, size_t *best, struct weir_str *point,
                    struct weir_str *type)
{
    char *dash = strstr(line, " - "), *save = NULL, *word = strtok_r(line, " ", &save);
    size_t len;

    for (int i = 1; word && i < 5; i++)
        word = strtok_r(NULL, " ", &save);
    if (!word || !dash)
        return;
    decode_octal(word);
    len = covers(word, path);
    if (len < *best || len == 0)
        return;
    *best = len;
    weir_str_clear(point);
    weir_str_clear(type);
    weir_str_addf(point, "%s", word);
    weir_str_add(type, dash + 3, strcspn(dash + 3, " \n"));
}

void weir_mount_find_in(const char *table, const char *path, struct weir_str *point,
                        struct weir_str *type)
{
    char *real = resolve(path), *line = NULL;
    size_t room = 0, best = 0;
    FILE *f;

    weir_str_clear(point);
    weir_str_clear(type);
    f = real ? fopen(table, "r") : NULL;
    while (f && getline(&line, &room, f) > 0)
        look_at(line, real, &best, point, type);
    if (f)
        fclose(f);
    free(line);
    free(real);
}

void weir_mount_find(const char *path, struct weir_str *point, struct weir_str *type)
{
    weir_mount_find_in("/proc/self/mountinfo", path, point, type);
}
