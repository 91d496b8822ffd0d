/* SPDX-License-Identifier: BSD-3-Clause */
/* signatures.c - what src/base/gpu calls is what the headers of the vendor declare: functions by assignment, types and
 * numbers by assertion. It is compiled, and not linked */
#include <cuda.h>
#include <cufile.h>

#include "base/gpu/file.c"

#define SAME(a, b) _Static_assert((a) == (b), #a " is not " #b)
#define PLACE(ours, member, theirs, other) SAME(offsetof(ours, member), offsetof(theirs, other))

SAME(sizeof(CUdeviceptr), sizeof(void *));
SAME(sizeof(CUdevice), sizeof(int));
SAME(sizeof(CUresult), sizeof(int));
SAME(CUDA_SUCCESS, 0);
SAME(CU_MEM_ATTACH_GLOBAL, 1);
SAME(CU_MEMHOSTALLOC_PORTABLE, 1);

SAME(sizeof(struct status), sizeof(CUfileError_t));
PLACE(struct status, device, CUfileError_t, cu_err);
SAME(sizeof(struct descriptor), sizeof(CUfileDescr_t));
PLACE(struct descriptor, file.fd, CUfileDescr_t, handle.fd);
SAME(DESCRIPTOR, CU_FILE_HANDLE_TYPE_OPAQUE_FD);
SAME(sizeof(struct properties), sizeof(CUfileDrvProps_t));
PLACE(struct properties, module.major, CUfileDrvProps_t, nvfs.major_version);
PLACE(struct properties, module.max_direct_io, CUfileDrvProps_t, nvfs.max_direct_io_size);
PLACE(struct properties, feature_flags, CUfileDrvProps_t, fflags);
PLACE(struct properties, max_batch_ms, CUfileDrvProps_t, max_batch_io_timeout_msecs);
SAME(5001, CU_FILE_DRIVER_NOT_INITIALIZED);
SAME(5007, CU_FILE_PLATFORM_NOT_SUPPORTED);
SAME(5008, CU_FILE_IO_NOT_SUPPORTED);
SAME(5011, CU_FILE_CUDA_DRIVER_ERROR);
SAME(5018, CU_FILE_INVALID_FILE_TYPE);
SAME(5020, CU_FILE_DIO_NOT_SET);
SAME(5033, CU_FILE_NVFS_SETUP_ERROR);
SAME(5034, CU_FILE_IO_DISABLED);

/* As vendor.c and file.c have them, with the names of the types. */
struct {
    CUresult (*init)(unsigned);
    CUresult (*version)(int *);
    CUresult (*count)(int *);
    CUresult (*get)(CUdevice *, int);
    CUresult (*name)(char *, int, CUdevice);
    CUresult (*bus)(char *, int, CUdevice);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*alloc_managed)(CUdeviceptr *, size_t, unsigned);
    CUresult (*free)(CUdeviceptr);
    CUresult (*alloc_host)(void **, size_t, unsigned);
    CUresult (*free_host)(void *);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*release)(CUdevice);
    CUresult (*current)(CUcontext);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t);
    CUresult (*to_host)(void *, CUdeviceptr, size_t);
    CUresult (*synchronize)(void);
    CUresult (*text)(CUresult, const char **);
} const driver = { cuInit,       cuDriverGetVersion, cuDeviceGetCount,  cuDeviceGet,     cuDeviceGetName,
                   cuDeviceGetPCIBusId, cuMemAlloc,  cuMemAllocManaged, cuMemFree,       cuMemHostAlloc,
                   cuMemFreeHost, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease, cuCtxSetCurrent,
                   cuMemcpyHtoD, cuMemcpyDtoH,       cuCtxSynchronize,  cuGetErrorString };

struct {
    CUfileError_t (*open)(void);
    CUfileError_t (*close)(void);
    CUfileError_t (*version)(int *);
    CUfileError_t (*properties)(CUfileDrvProps_t *);
    CUfileError_t (*add)(CUfileHandle_t *, CUfileDescr_t *);
    void (*drop)(CUfileHandle_t);
    CUfileError_t (*add_buffer)(const void *, size_t, int);
    CUfileError_t (*drop_buffer)(const void *);
    ssize_t (*read)(CUfileHandle_t, void *, size_t, off_t, off_t);
    ssize_t (*write)(CUfileHandle_t, const void *, size_t, off_t, off_t);
} const files = { cuFileDriverOpen,   cuFileDriverClose,  cuFileGetVersion,  cuFileDriverGetProperties, cuFileHandleRegister,
                  cuFileHandleDeregister, cuFileBufRegister, cuFileBufDeregister, cuFileRead,           cuFileWrite };

/* The names that are looked up are those that the headers make of these. */
#define TEXT(x) #x
#define NAME(x) TEXT(x)
const char *const looked_up[] = { NAME(cuMemAlloc), NAME(cuMemFree), NAME(cuMemcpyHtoD), NAME(cuMemcpyDtoH),
                                  NAME(cuDevicePrimaryCtxRelease), NAME(cuFileDriverClose) };
