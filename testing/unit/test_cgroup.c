/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cgroup.c - the memory and processors that control groups of version 1 and 2 leave to a process */
#include "base/node/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char place[] = "/tmp/weir-cgroup-XXXXXX";

/* A file below the place, with the folders above it. '@' stands for the place in its text. */
static void put(const char *name, const char *text)
{
    char path[256];
    FILE *f;

    assert_true(snprintf(path, sizeof(path), "%s/%s", place, name) < (int)sizeof(path));
    for (char *at = path + sizeof(place); (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        (void)mkdir(path, 0700);
    }
    assert_non_null(f = fopen(path, "w"));
    for (; *text; text++)
        assert_true(*text == '@' ? fputs(place, f) >= 0 : fputc(*text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static double limit_of(enum weir_cgroup_resource what, const char *groups, const char *mounts)
{
    char a[64], b[64];

    put("groups", groups);
    put("mounts", mounts);
    (void)snprintf(a, sizeof(a), "%s/groups", place);
    (void)snprintf(b, sizeof(b), "%s/mounts", place);
    return weir_cgroup_limit_in(what, a, b);
}

static double limit(const char *groups, const char *mounts)
{
    return limit_of(WEIR_CGROUP_MEMORY, groups, mounts);
}

#define MOUNT_1 "36 31 0:32 / @/v1 rw,nosuid - cgroup cgroup rw,cpu,memory\n"
#define MOUNT_2 "41 31 0:38 / @/v2 rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define OTHERS "24 23 0:21 / /proc rw - proc proc rw\n35 31 0:31 / @/cpuset rw - cgroup cgroup rw,cpuset\n"

static void make_groups(void)
{
    put("v1/memory.limit_in_bytes", "9223372036854771712\n");
    put("v1/slurm/job_7/memory.limit_in_bytes", "4000000000\n");
    put("v1/slurm/job_7/step_0/memory.limit_in_bytes", "9223372036854771712\n");
    put("v1/slurm/job_7/step_0/task_3/memory.limit_in_bytes", "9223372036854771712\n");
    put("v1/tight/memory.limit_in_bytes", "1000000\n");
    put("v2/job/memory.max", "5000000000\n");
    put("v2/job/task/memory.max", "max\n");
    put("v2/free/memory.max", "max\n");
}

static void the_limit_of_the_job_holds_for_its_tasks(void **state)
{
    (void)state;
    make_groups();
    assert_true(limit("5:cpuset:/x\n4:cpu,memory:/slurm/job_7/step_0/task_3\n0::/\n", OTHERS MOUNT_1) == 4e9);
    assert_true(limit("0::/job/task\n", OTHERS MOUNT_2) == 5e9);
}

static void a_group_without_limit_has_none(void **state)
{
    (void)state;
    make_groups();
    assert_true(isinf(limit("4:memory:/\n", MOUNT_1)));
    assert_true(isinf(limit("0::/free\n", MOUNT_2)));
}

static void the_smaller_limit_of_two_versions_counts(void **state)
{
    (void)state;
    make_groups();
    assert_true(limit("4:memory:/slurm/job_7\n0::/job\n", MOUNT_1 MOUNT_2) == 4e9);
    assert_true(limit("4:memory:/\n0::/job/task\n", MOUNT_2 MOUNT_1) == 5e9);
    assert_true(limit("4:memory:/tight\n0::/free\n", MOUNT_2 MOUNT_1) == 1e6);
}

static void a_container_sees_its_own_part_only(void **state)
{
    (void)state;
    make_groups();
    assert_true(limit("4:memory:/docker/f00/slurm/job_7\n", "36 31 0:32 /docker/f00 @/v1 rw - cgroup cgroup rw,memory\n") == 4e9);
    assert_true(limit("0::/not/below/the/mount\n", "36 31 0:32 / @/v2/job rw - cgroup2 cgroup2 rw\n") == 5e9);
}

static void without_groups_nothing_is_known(void **state)
{
    (void)state;
    make_groups();
    assert_true(isnan(limit("", MOUNT_1 MOUNT_2)));
    assert_true(isnan(limit("4:memory:/slurm/job_7\n0::/job\n", OTHERS)));
    assert_true(isnan(limit("nonsense\n:\n", "nonsense\n - \n - cgroup2\n" MOUNT_2)));
    assert_true(isnan(weir_cgroup_limit_in(WEIR_CGROUP_MEMORY, "/nowhere", "/nowhere")));
}

static double processors(const char *groups, const char *mounts)
{
    return limit_of(WEIR_CGROUP_PROCESSORS, groups, mounts);
}

static void a_quota_and_its_period_are_processors(void **state)
{
    (void)state;
    put("v1/job/cpu.cfs_quota_us", "150000\n");
    put("v1/job/cpu.cfs_period_us", "100000\n");
    put("v1/job/task/cpu.cfs_quota_us", "-1\n");
    put("v1/job/task/cpu.cfs_period_us", "100000\n");
    put("v1/free/cpu.cfs_quota_us", "-1\n");
    put("v1/free/cpu.cfs_period_us", "100000\n");
    put("v2/job/cpu.max", "50000 100000\n");
    put("v2/job/task/cpu.max", "max 100000\n");
    put("v2/free/cpu.max", "max 100000\n");
    assert_true(processors("4:cpu,cpuacct:/job/task\n", MOUNT_1) == 1.5);
    assert_true(isinf(processors("4:cpu,cpuacct:/free\n", MOUNT_1)));
    assert_true(processors("0::/job/task\n", MOUNT_2) == 0.5);
    assert_true(isinf(processors("0::/free\n", MOUNT_2)));
    assert_true(processors("4:cpu:/job\n0::/free\n", MOUNT_1 MOUNT_2) == 1.5);
    assert_true(isnan(processors("4:cpuacct:/job\n", MOUNT_1)));
    assert_true(isnan(processors("4:cpu:/no/such/group\n", MOUNT_1)));
}

static int make_place(void **state)
{
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[64];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_of_the_job_holds_for_its_tasks),
        cmocka_unit_test(a_group_without_limit_has_none),
        cmocka_unit_test(the_smaller_limit_of_two_versions_counts),
        cmocka_unit_test(a_container_sees_its_own_part_only),
        cmocka_unit_test(a_quota_and_its_period_are_processors),
        cmocka_unit_test(without_groups_nothing_is_known),
    };

    return cmocka_run_group_tests(tests, make_place, remove_place);
}
