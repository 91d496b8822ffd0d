/* SPDX-License-Identifier: BSD-3-Clause */
/* hip.h - the functions of libamdhip64.so as the manual of HIP describes them. An error is an int, a device pointer a
 * void *. No header of AMD is in PyPI: this one is what signatures.c compares the table of src with, and what device.c
 * defines */
#pragma once

#include <stddef.h>

int hipInit(unsigned flags);
int hipGetDeviceCount(int *);
int hipSetDevice(int device);
int hipDeviceGetName(char *, int bytes, int device);
int hipDeviceGetPCIBusId(char *, int bytes, int device);
int hipRuntimeGetVersion(int *);
int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMallocManaged(void **, size_t, unsigned flags);
int hipHostMalloc(void **, size_t, unsigned flags);
int hipHostFree(void *);
int hipMemcpyHtoD(void *to, const void *from, size_t);
int hipMemcpyDtoH(void *to, void *from, size_t);
int hipDeviceSynchronize(void);
const char *hipGetErrorString(int);
