/* SPDX-License-Identifier: BSD-3-Clause */
/* gpfs_fcntl.h - stand-in for the hints of GPFS that weir uses; see stand-ins.c. With
 * STAND_IN_OLD_GPFS it is a version without a hint for creates. */
#ifndef STAND_IN_GPFS_FCNTL_H
#define STAND_IN_GPFS_FCNTL_H

#define GPFS_FCNTL_CURRENT_VERSION 1

enum { GPFS_ACCESS_RANGE = 1, GPFS_FREE_RANGE, GPFS_FINE_GRAIN_WRITE_SHARING = 11 };
enum { GPFS_FINE_GRAIN_READ_SHARING = 12 };

typedef struct {
    int totalLength, fcntlVersion, errorOffset, fcntlReserved;
} gpfsFcntlHeader_t;

typedef struct {
    int structLen, structType;
    long long start, length;
    int isWrite;
    char padding[4];
} gpfsAccessRange_t;

typedef struct {
    int structLen, structType;
    long long start, length;
} gpfsFreeRange_t;

typedef struct {
    int structLen, structType;
} gpfsFineGrainWriteSharing_t, gpfsFineGrainReadSharing_t;

#ifndef STAND_IN_OLD_GPFS
enum { GPFS_CREATE_SHARING = 13 };

typedef struct {
    int structLen, structType;
} gpfsCreateSharing_t;
#endif

#endif
