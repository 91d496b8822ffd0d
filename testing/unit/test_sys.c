/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sys.c - which block devices move the bytes, and how fast the links are, in a directory that stands for /sys */
#include "base/node/device.h"
#include "base/node/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

/* Of the test that runs: the directory, below which 'sys' stands for /sys. */
struct place {
    char dir[32];
};

static void run(const struct place *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void run(const struct place *p, const char *fmt, ...)
{
    char command[1024];
    int n = snprintf(command, sizeof(command), "cd %s && ", p->dir);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, ap);
    va_end(ap);
    assert_int_equal(system(command), 0);
}

/* The disk on which the directory is, is called sda there. */
static int set_up(void **state)
{
    struct place *p = malloc(sizeof(*p));
    struct stat st;

    assert_non_null(p);
    *p = (struct place) { .dir = "/tmp/weir-sys-XXXXXX" };
    assert_non_null(mkdtemp(p->dir));
    assert_int_equal(stat(p->dir, &st), 0);
    run(p, "mkdir -p sys/dev/block sys/class/block/sda sys/class/block/sdb");
    run(p, "ln -s ../../class/block/sda sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    run(*state, "rm -rf sys image");
    rmdir(((struct place *)*state)->dir);
    free(*state);
    return 0;
}

static void upon(const struct place *p, const char *name, const char *below)
{
    run(p, "mkdir -p sys/class/block/%s/slaves/%s", name, below);
}

static void loop(const struct place *p, const char *name, int direct)
{
    run(p, "mkdir -p sys/class/block/%s/loop && cd sys/class/block/%s/loop && echo %s/image >backing_file", name, name, p->dir);
    run(p, "echo %d >sys/class/block/%s/loop/dio && echo 4096 >sys/class/block/%s/loop/offset", direct, name, name);
}

static struct weir_devices below(const struct place *p, const char *name)
{
    struct weir_devices d;
    char sys[64];

    assert_true(snprintf(sys, sizeof(sys), "%s/sys", p->dir) < (int)sizeof(sys));
    weir_devices_underlying(sys, name, &d);
    assert_string_equal(d.top, name);
    return d;
}

static void a_disk_moves_its_bytes(void **state)
{
    struct weir_devices d = below(*state, "sda");

    assert_int_equal(d.n, 1);
    assert_string_equal(d.name[0], "sda");
    assert_string_equal(d.image, "");
}

static void a_mirror_counts_its_bytes_once(void **state)
{
    struct weir_devices d;

    upon(*state, "md0", "sda");
    upon(*state, "md0", "sdb");
    d = below(*state, "md0");
    assert_int_equal(d.n, 1);
    assert_string_equal(d.name[0], "md0");
}

static void a_volume_is_moved_by_the_one_disk_below_it(void **state)
{
    struct weir_devices d;

    upon(*state, "dm-0", "sdb"); /* it may compress */
    d = below(*state, "dm-0");
    assert_int_equal(d.n, 1);
    assert_string_equal(d.name[0], "sdb");
}

static void an_image_is_moved_by_the_disk_below_it(void **state)
{
    struct weir_devices d;

    loop(*state, "loop3", 0);
    d = below(*state, "loop3");
    assert_int_equal(d.n, 1);
    assert_string_equal(d.name[0], "sda");
    assert_true(d.is_whole && d.image_offset == 4096);
    assert_string_equal(strrchr(d.image, '/'), "/image");
}

static void a_partition_of_an_image_begins_later(void **state)
{
    struct weir_devices d;

    loop(*state, "loop3", 0);
    run(*state, "cd sys/class/block && mkdir loop3/loop3p1 && ln -s loop3/loop3p1 loop3p1 && echo 1 >loop3p1/partition && echo 8 >loop3p1/start");
    d = below(*state, "loop3p1");
    assert_int_equal(d.n, 1);
    assert_string_equal(d.name[0], "sda");
    assert_true(d.is_whole && d.image_offset == 2 * 4096);
}

static void an_image_without_pages_counts_its_own_bytes(void **state)
{
    struct weir_devices d;

    loop(*state, "loop3", 1);
    d = below(*state, "loop3");
    assert_int_equal(d.n, 1);
    assert_string_equal(d.name[0], "loop3");
    assert_string_equal(d.image, "");
}

static void an_image_below_a_volume_is_seen(void **state)
{
    struct weir_devices d;

    loop(*state, "loop3", 0);
    upon(*state, "dm-0", "md0");
    upon(*state, "md0", "loop3");
    upon(*state, "md0", "sdb");
    d = below(*state, "dm-0");
    assert_int_equal(d.n, 2);
    assert_true(strcmp(d.name[0], "sda") == 0 || strcmp(d.name[1], "sda") == 0);
    assert_true(strcmp(d.name[0], "sdb") == 0 || strcmp(d.name[1], "sdb") == 0);
    assert_true(d.image[0] && !d.is_whole);
}

static void what_lies_upon_itself_has_no_end(void **state)
{
    struct weir_devices d;

    upon(*state, "dm-0", "dm-1");
    upon(*state, "dm-1", "dm-0");
    loop(*state, "loop3", 0);
    upon(*state, "dm-1", "loop3");
    d = below(*state, "dm-0");
    assert_int_equal(d.n, 0);
}

/* ---- links ---- */

static double gigabits(const struct place *p)
{
    char sys[64];

    assert_true(snprintf(sys, sizeof(sys), "%s/sys", p->dir) < (int)sizeof(sys));
    return weir_links_rate(sys) * 8 / 1e9;
}

/* speed in Mbit/s. device: of hardware, the directory of the card. */
static void interface(const struct place *p, const char *name, const char *state, int speed,
                      const char *device)
{
    run(p, "mkdir -p sys/class/net/%s && cd sys/class/net/%s && echo %s >operstate && echo %d >speed",
        name, name, state, speed);
    if (device)
        run(p, "mkdir -p sys/devices/%s && ln -s ../../../devices/%s sys/class/net/%s/device", device,
            device, name);
}

static void port(const struct place *p, const char *adapter, const char *state, const char *rate,
                 const char *device)
{
    run(p, "mkdir -p sys/class/infiniband/%s/ports/1 sys/devices/%s/infiniband && cd sys/class/infiniband/%s && "
        "ln -s ../../../devices/%s device && echo '%s' >ports/1/state && echo '%s' >ports/1/rate",
        adapter, device, adapter, device, state, rate);
}

static void links_of_hardware_that_are_up_add_up(void **state)
{
    assert_true(isnan(gigabits(*state)));
    interface(*state, "eth0", "up", 25000, "pci0");
    interface(*state, "eth1", "unknown", 10000, "pci1");
    interface(*state, "eth2", "down", -1, "pci2");
    interface(*state, "eth3", "down", 10000, "pci3");
    assert_float_equal(gigabits(*state), 35, 1e-6);
}

static void links_that_are_made_of_others_are_not_counted(void **state)
{
    interface(*state, "lo", "unknown", -1, NULL);
    interface(*state, "veth0", "up", 10000, NULL);
    assert_true(isnan(gigabits(*state)));
    interface(*state, "eth0", "up", 25000, "pci0");
    interface(*state, "eth1", "up", 25000, "pci1");
    interface(*state, "bond0", "up", 50000, NULL);
    interface(*state, "vlan7", "up", 50000, NULL);
    assert_float_equal(gigabits(*state), 50, 1e-6);
    interface(*state, "eth0v3", "up", 25000, "pci0v3");
    run(*state, "mkdir sys/devices/pci0v3/physfn");
    assert_float_equal(gigabits(*state), 50, 1e-6);
}

static void ports_of_infiniband_are_links(void **state)
{
    interface(*state, "eth0", "up", 1000, "pci0");
    port(*state, "mlx5_0", "4: ACTIVE", "200 Gb/sec (4X HDR)", "pci1");
    port(*state, "mlx5_1", "1: DOWN", "10 Gb/sec (4X SDR)", "pci2");
    assert_float_equal(gigabits(*state), 201, 1e-6);
    interface(*state, "ib0", "up", 200000, "pci1"); /* IP over the same port */
    assert_float_equal(gigabits(*state), 201, 1e-6);
}

static void a_link_of_unknown_speed_leaves_the_sum_unknown(void **state)
{
    interface(*state, "eth0", "up", 1000, "pci0");
    interface(*state, "hsn0", "up", -1, "pci1");
    assert_true(isnan(gigabits(*state)));
}

static void the_distance_of_two_numa_nodes_is_that_of_the_kernel(void **state)
{
    char sys[64];

    snprintf(sys, sizeof(sys), "%s/sys", ((struct place *)*state)->dir);
    run(*state, "mkdir -p sys/devices/system/node/node1 && echo 21 10 12 >sys/devices/system/node/node1/distance");
    assert_int_equal(weir_machine_numa_distance(sys, 1, 0), 21);
    assert_int_equal(weir_machine_numa_distance(sys, 1, 1), 10);
    assert_int_equal(weir_machine_numa_distance(sys, 1, 2), 12);
    assert_int_equal(weir_machine_numa_distance(sys, 1, 3), -1);
    assert_int_equal(weir_machine_numa_distance(sys, 2, 1), -1);
    assert_int_equal(weir_machine_numa_distance(sys, -1, 1), -1);
    assert_int_equal(weir_machine_numa_distance(sys, 1, -1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_disk_moves_its_bytes),
        TEST(a_mirror_counts_its_bytes_once),
        TEST(a_volume_is_moved_by_the_one_disk_below_it),
        TEST(an_image_is_moved_by_the_disk_below_it),
        TEST(a_partition_of_an_image_begins_later),
        TEST(an_image_without_pages_counts_its_own_bytes),
        TEST(an_image_below_a_volume_is_seen),
        TEST(what_lies_upon_itself_has_no_end),
        TEST(links_of_hardware_that_are_up_add_up),
        TEST(links_that_are_made_of_others_are_not_counted),
        TEST(ports_of_infiniband_are_links),
        TEST(a_link_of_unknown_speed_leaves_the_sum_unknown),
        TEST(the_distance_of_two_numa_nodes_is_that_of_the_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
