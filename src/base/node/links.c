/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c - how much the network links of this node can carry */
#include "base/node/machine.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/node/sysfile.h"
#include "base/size.h"

#define BITS 8

/* Call 'rate' for each name in a directory, and add up what it gives: NaN is passed on. */
static double add_up(const char *in, const char *names, double (*rate)(const char *path))
{
    char dir[PATH_MAX], path[PATH_MAX];
    bool fits = snprintf(dir, sizeof(dir), "%s/%s", in, names) < (int)sizeof(dir);
    DIR *d = fits ? opendir(dir) : NULL;
    struct dirent *e;
    double sum = 0;

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.' &&
            snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path))
            sum += rate(path);
    if (d)
        closedir(d);
    return sum;
}

static bool has(const char *path, const char *name)
{
    char file[PATH_MAX];

    return snprintf(file, sizeof(file), "%s/%s", path, name) < (int)sizeof(file) &&
           access(file, F_OK) == 0;
}

static double in_units(const char *number, double unit)
{
    double value;

    return weir_real_scan(number, &value) != number && value > 0 ? value * unit / BITS : NAN;
}

/* The files of ports: "4: ACTIVE", "100 Gb/sec (4X EDR)". */
static double port_rate(const char *path)
{
    char state[64], rate[64];

    weir_sysfile_line("", state, sizeof(state), "%s/state", path);
    weir_sysfile_line("", rate, sizeof(rate), "%s/rate", path);
    return strstr(state, "ACTIVE") ? in_units(rate, 1e9) : 0;
}

static bool is_hardware(const char *path)
{
    return has(path, "device") && !has(path, "device/physfn");
}

static double adapter_rate(const char *path)
{
    return is_hardware(path) ? add_up(path, "ports", port_rate) : 0;
}

/* The speed is in Mbit/s, or below 0. Links of unknown state are those that do not tell it. */
static double interface_rate(const char *path)
{
    char state[64], speed[64];

    if (!is_hardware(path) || has(path, "device/infiniband"))
        return 0;
    weir_sysfile_line("", state, sizeof(state), "%s/operstate", path);
    weir_sysfile_line("", speed, sizeof(speed), "%s/speed", path);
    return strncmp(state, "up", 2) == 0 || strncmp(state, "unknown", 7) == 0 ? in_units(speed, 1e6)
                                                                            : 0;
}

double weir_links_rate(const char *sys)
{
    double sum = add_up(sys, "class/infiniband", adapter_rate) +
                 add_up(sys, "class/net", interface_rate);

    return sum > 0 ? sum : NAN;
}
