/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - a main for fuzz targets: one run for each file, and each file of each folder,
 * given */

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_path(const char *path, int *count);

/* Run the target on one file, in a buffer of its exact size. Returns 0, or -1 with errno set.
 */
static int replay_file(const char *path, size_t size, int *count)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = f == NULL ? NULL : malloc(size > 0 ? size : 1);
    int rc = -1;

    if (data != NULL && fread(data, 1, size, f) == size) {
        printf("%s\n", path); /* the last line names the input that ended the program */
        fflush(stdout);
        (void)LLVMFuzzerTestOneInput(data, size);
        (*count)++;
        rc = 0;
    }
    free(data);
    if (f != NULL)
        fclose(f);
    return rc;
}

static int replay_folder(const char *path, int *count)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int rc = 0;

    if (dir == NULL) {
        perror(path);
        return -1;
    }
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        struct weir_str inner = { 0 };

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        weir_str_addf(&inner, "%s/%s", path, entry->d_name);
        rc = replay_path(weir_str_text(&inner), count);
        weir_str_free(&inner);
    }
    closedir(dir);
    return rc;
}

/* Returns 0, or -1 after having said what is wrong. */
static int replay_path(const char *path, int *count)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        perror(path);
        return -1;
    }
    if (S_ISDIR(st.st_mode))
        return replay_folder(path, count);
    if (replay_file(path, (size_t)st.st_size, count) < 0) {
        perror(path);
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++)
        if (replay_path(argv[i], &count) < 0)
            return EXIT_FAILURE;
    printf("%d inputs\n", count);
    return EXIT_SUCCESS;
}
