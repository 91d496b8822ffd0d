/* SPDX-License-Identifier: BSD-3-Clause */
/* hip.h - the functions of libamdhip64.so as the manual of HIP describes them, and those of libhipfile.so as AMD's bindings for
 * Python declare them (hipfile 0.4 of PyPI). An error is an int, a device pointer a void *. No header of AMD is in PyPI: this one
 * is what signatures.c compares the tables of src with, and what device.c and file.c define */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int hipInit(unsigned flags);
int hipGetDeviceCount(int *);
int hipDeviceGet(int *device, int ordinal);
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

#define hipFileHandleTypeOpaqueFD 1

typedef struct {
    int err, hip_drv_err;
} hipFileError_t;

typedef struct {
    int type;
    union {
        int fd;
        void *hFile;
    } handle;
    const void *fs_ops;
} hipFileDescr_t;

/* Three of its sizes are twice as large as those of cuFile. */
typedef struct {
    struct {
        unsigned major_version, minor_version;
        uint64_t poll_thresh_size, max_direct_io_size;
        unsigned driver_status_flags, driver_control_flags;
    } nvfs;
    unsigned feature_flags;
    uint64_t max_device_cache_size, per_buffer_cache_size, max_device_pinned_mem_size;
    unsigned max_batch_io_count, max_batch_io_timeout_msecs;
} hipFileDriverProps_t;

hipFileError_t hipFileDriverOpen(void);
hipFileError_t hipFileDriverClose(void);
hipFileError_t hipFileGetVersion(unsigned *major, unsigned *minor, unsigned *patch);
hipFileError_t hipFileDriverGetProperties(hipFileDriverProps_t *);
hipFileError_t hipFileHandleRegister(void **handle, hipFileDescr_t *);
void hipFileHandleDeregister(void *handle);
hipFileError_t hipFileBufRegister(const void *, size_t, int flags);
hipFileError_t hipFileBufDeregister(const void *);
ssize_t hipFileRead(void *handle, void *, size_t, off_t in_file, off_t in_buffer);
ssize_t hipFileWrite(void *handle, const void *, size_t, off_t in_file, off_t in_buffer);
