/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - the block devices under a file system: the one it is on, and those that move its
 * bytes */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text/path.h"

#define WEIR_DEVICES 16
#define WEIR_DEVICE_NAME 32

struct weir_devices {
    char top[WEIR_DEVICE_NAME]; /* the file system is on it: "vda1", "loop0"; "": none is known */
    char name[WEIR_DEVICES][WEIR_DEVICE_NAME];
    int n; /* those that move its bytes: the same one, or those that it lies on; 0: not known */
    char image[PATH_MAX];  /* a file whose pages hold the same bytes in memory; "": none */
    bool is_whole;         /* nothing lies between the file system and the image: a byte at x of */
    uint64_t image_offset; /* the file system's device is at x + image_offset of it */
    bool failed;           /* memory ran out: there may be devices and an image all the same */
};

/* Bytes that a block device has moved since the system started, and its requests of writing. */
struct weir_traffic {
    uint64_t read, written, writes;
};

/* Find the devices under the file system that holds path, which need not exist. A loop device
 * is on those of its image, one of dm or md on its slaves. Several slaves are not told apart (a
 * mirror would count bytes twice) but below an image. An overlayfs is on those of the directory
 * that takes the writes, where that can be seen. Local. */
void weir_devices_find(const char *path, struct weir_devices *d);

/* As weir_devices_find, for a mount whose directories have this st_dev; NULL: to be found. */
void weir_devices_of(const struct weir_mount *m, const dev_t *number, struct weir_devices *d);

/* As weir_devices_find, for a block device, with another directory than "/sys". Replaces *d. */
void weir_devices_underlying(const char *sys, const char *name, struct weir_devices *d);

/* Sum the traffic of all devices of d so far. Local. False: not known. */
bool weir_devices_moved(const struct weir_devices *d, struct weir_traffic *t);
