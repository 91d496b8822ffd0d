/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.c - what a number depends on besides the test */
#include "base/node/environment.h"

#include <inttypes.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/node/sysfile.h"

/* ---- files of the system ---- */

static void put_trimmed(const char *text, struct weir_str *out)
{
    size_t n = strcspn(text, "\n");

    text = weir_trimmed(text, &n);
    weir_str_clear(out);
    weir_str_add(out, text, n);
}

void weir_environment_governor(struct weir_str *out)
{
    char line[1024];

    weir_sysfile_line("", line, sizeof(line),
                      "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    put_trimmed(line, out);
}

void weir_environment_kernel(struct weir_str *out)
{
    struct utsname u;

    weir_str_clear(out);
    if (uname(&u) == 0)
        weir_str_addf(out, "%s %s %s", u.sysname, u.release, u.machine);
}

void weir_environment_processor(struct weir_str *out)
{
    char line[1024];

    weir_sysfile_line("model name", line, sizeof(line), "/proc/cpuinfo");
    put_trimmed(line + strspn(line, "\t :"), out);
}

/* ---- the place ---- */

/* Partitions have the queue of their disk. */
void weir_environment_queue(const char *device, const char *setting, struct weir_str *out)
{
    char line[1024] = "";

    if (*device && !weir_sysfile_line("", line, sizeof(line), "/sys/class/block/%s/queue/%s", device,
                                      setting))
        weir_sysfile_line("", line, sizeof(line), "/sys/class/block/%s/../queue/%s", device,
                          setting);
    put_trimmed(line, out);
}

/* The head of what Lustre keeps in "lustre.lov" (lov_user_md, versions 1 and 3). */
struct stripes {
    uint32_t magic, pattern;
    unsigned char object[16];
    uint32_t size;
    uint16_t count, first;
};

#define STRIPES_1 0x0BD10BD0
#define STRIPES_3 0x0BD30BD0
#define STRIPES_TEXT 4096

/* A stripe: it follows the head, in version 3 after the name of a pool. */
struct stripe {
    unsigned char object[16];
    uint32_t generation, target;
};

/* Read the head and what follows it. Returns the bytes of all, 0: it has none of its own. */
static size_t read_stripes(const char *path, char bytes[STRIPES_TEXT], struct stripes *s)
{
    ssize_t n = getxattr(path, "lustre.lov", bytes, STRIPES_TEXT);

    if (n < (ssize_t)sizeof(*s))
        return 0;
    memcpy(s, bytes, sizeof(*s));
    return s->magic == STRIPES_1 || s->magic == STRIPES_3 ? (size_t)n : 0;
}

bool weir_environment_stripes(const char *path, uint32_t *size, uint16_t *count)
{
    char bytes[STRIPES_TEXT];
    struct stripes s;

    if (read_stripes(path, bytes, &s) == 0)
        return false;
    *size = s.size;
    *count = s.count;
    return true;
}

int64_t weir_environment_target(const char *path, int stripe)
{
    char bytes[STRIPES_TEXT];
    struct stripes s;
    struct stripe one;
    size_t n = read_stripes(path, bytes, &s), at;

    if (n == 0 || stripe >= s.count)
        return -1;
    at = sizeof(s) + (s.magic == STRIPES_3 ? 16 : 0) + (size_t)stripe * sizeof(one);
    if (at + sizeof(one) > n)
        return -1;
    memcpy(&one, bytes + at, sizeof(one));
    return one.target;
}

void weir_environment_layout(const char *path, struct weir_str *out)
{
    struct stat st;
    uint32_t size;
    uint16_t count;

    weir_str_clear(out);
    if (stat(path, &st) < 0)
        return;
    if (weir_environment_stripes(path, &size, &count))
        weir_str_addf(out, "stripe size %" PRIu32 ", stripe count %d", size, count);
    else
        weir_str_addf(out, "preferred transfer size %ld", (long)st.st_blksize);
}

/* ---- the process ---- */

int weir_environment_binding(struct weir_str *out)
{
    cpu_set_t set;
    int n = 0;

    weir_str_clear(out);
    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        int last = i;

        if (!CPU_ISSET(i, &set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        weir_str_addf(out, last > i ? "%s%d-%d" : "%s%d", n ? "," : "", i, last);
        n += last - i + 1;
        i = last;
    }
    return n;
}

/* True for a variable that configures a library which moves the data. */
static bool is_of_interest(const char *variable)
{
    static const char *const beginnings[] = { "OMPI_MCA_io",
                                              "OMPI_MCA_fs",
                                              "OMPI_MCA_fcoll",
                                              "OMPI_MCA_fbtl",
                                              "OMPI_MCA_sharedfp",
                                              "MPICH_MPIIO_",
                                              "ROMIO_",
                                              "I_MPI_EXTRA_",
                                              "MPIO_",
                                              "HDF5_",
                                              "H5FD_",
                                              "PNETCDF_",
                                              "IOR_HINT__",
                                              "IOR_FAKE_",
                                              "LD_PRELOAD=",
                                              "DARSHAN_",
                                              "MPIR_CVAR_ROMIO",
                                              "MPIR_CVAR_ENABLE_",
                                              "LIBAIO_",
                                              NULL };

    for (int i = 0; beginnings[i]; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

const char *weir_environment_variable(int i, struct weir_str *name)
{
    for (char **v = environ; v && *v; v++) {
        const char *equals = strchr(*v, '=');

        if (!equals || !is_of_interest(*v) || i-- > 0)
            continue;
        weir_str_clear(name);
        weir_str_add(name, *v, (size_t)(equals - *v));
        return equals + 1;
    }
    return NULL;
}

/* Libraries that take the I/O calls, as their names begin. One that only counts calls (Darshan) is
 * none: its data still move through the kernel. */
static const char *const interceptions[][2] = {
    { "libpil4dfs.so", "DAOS" },           { "libioil.so", "DAOS" },
    { "libgkfs_intercept.so", "GekkoFS" }, { "libgkfs_libc_intercept.so", "GekkoFS" },
    { "libhermes_posix.so", "Hermes" },    { "libunifyfs_", "UnifyFS" },
};

/* Append a loaded library to the text in arg. Returns 0: the next one is wanted, too. */
static int add_interception(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    struct weir_str *out = arg;

    for (size_t i = 0; i < sizeof(interceptions) / sizeof(*interceptions); i++)
        if (strncmp(file, interceptions[i][0], strlen(interceptions[i][0])) == 0)
            weir_str_addf(out, "%s%s (%s)", out->len ? ", " : "", file, interceptions[i][1]);
    return 0;
}

void weir_environment_interception(struct weir_str *out)
{
    weir_str_clear(out);
    dl_iterate_phdr(add_interception, out);
}

bool weir_environment_is_intercepted(void)
{
    struct weir_str libraries = { 0 };
    bool any;

    weir_environment_interception(&libraries);
    any = libraries.len > 0;
    weir_str_free(&libraries);
    return any;
}

bool weir_environment_is_secret(const char *variable)
{
    static const char *const words[] = { "key", "secret", "token", "passw", "passphrase", "credential", "auth", NULL };
    const char *equals = strchr(variable, '='), *url = equals ? strstr(equals, "://") : NULL;
    const char *host = url ? url + 3 : "";

    for (const char *const *word = words; equals && *word; word++) {
        const char *found = strcasestr(variable, *word);

        if (found && found < equals)
            return true;
    }
    return host[strcspn(host, "@/")] == '@';
}
