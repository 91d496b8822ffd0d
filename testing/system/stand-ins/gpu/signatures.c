/* SPDX-License-Identifier: BSD-3-Clause */
/* signatures.c - what src/base/gpu calls is what the vendors declare: the tables of src are expanded with the types of the
 * headers, and each row is compared with the function of its name. With -DHIP those of AMD, else those of NVIDIA. It is
 * compiled, and not linked */
#include "base/gpu/vendor.c"

/* A symbol that a vendor has not is the prefix alone: no function has this type. */
struct none {
    int no;
};

/* The row of a table has the type of the function that a vendor declares, or there is no such function. */
#define IS(type, parameters, theirs)                                                               \
    (__builtin_types_compatible_p(type parameters, __typeof__(theirs)) ||                          \
     __builtin_types_compatible_p(struct none, __typeof__(theirs)))

#define SAME(a, b) _Static_assert((a) == (b), #a " is not " #b)
#define PLACE(ours, member, theirs, other) SAME(offsetof(ours, member), offsetof(theirs, other))
/* Properties are filled by the library: what it fills must have space. */
#define FILE_TYPES(error, device_error, descr, facts)                                              \
    SAME(sizeof(struct weir_gpu_status), sizeof(error));                                           \
    PLACE(struct weir_gpu_status, device, error, device_error);                                    \
    SAME(sizeof(struct weir_gpu_descriptor), sizeof(descr));                                       \
    PLACE(struct weir_gpu_descriptor, file.fd, descr, handle.fd);                                  \
    PLACE(struct weir_gpu_properties, module.major, facts, nvfs.major_version);                    \
    PLACE(struct weir_gpu_properties, module.max_direct_io, facts, nvfs.max_direct_io_size);       \
    _Static_assert(sizeof(struct weir_gpu_properties) >= sizeof(facts), "space for " #facts);

#ifdef HIP
#include "hip.h"

extern struct none hip;

#define ROW(member, type, parameters, cuda, symbol)                                                \
    _Static_assert(IS(type, parameters, hip##symbol), "hip" #symbol);
WEIR_GPU_DRIVER(ROW, int, void *, void *)

extern struct none hipFile;

SAME(WEIR_GPU_OF_FD, hipFileHandleTypeOpaqueFD);
FILE_TYPES(hipFileError_t, hip_drv_err, hipFileDescr_t, hipFileDriverProps_t)

#define FILE_ROW(member, type, parameters, cuda, symbol)                                           \
    _Static_assert(IS(type, parameters, hipFile##symbol), "hipFile" #symbol);
WEIR_GPU_FILES(FILE_ROW, hipFileError_t, hipFileDescr_t, hipFileDriverProps_t)
#else
#include <cuda.h>
#include <cufile.h>

SAME(sizeof(CUdeviceptr), sizeof(void *));
SAME(sizeof(CUdevice), sizeof(int));
SAME(sizeof(CUresult), sizeof(int));
SAME(CUDA_SUCCESS, 0);
SAME(CU_MEM_ATTACH_GLOBAL, 1);
SAME(CU_MEMHOSTALLOC_PORTABLE, 1);

SAME(WEIR_GPU_OF_FD, CU_FILE_HANDLE_TYPE_OPAQUE_FD);
SAME(PEER_TO_PEER, 1u << CU_FILE_NVME_P2P_SUPPORTED);
FILE_TYPES(CUfileError_t, cu_err, CUfileDescr_t, CUfileDrvProps_t)
PLACE(struct weir_gpu_properties, module.status_flags, CUfileDrvProps_t, nvfs.dstatusflags);
SAME(5001, CU_FILE_DRIVER_NOT_INITIALIZED);
SAME(5007, CU_FILE_PLATFORM_NOT_SUPPORTED);
SAME(5008, CU_FILE_IO_NOT_SUPPORTED);
SAME(5011, CU_FILE_CUDA_DRIVER_ERROR);
SAME(5018, CU_FILE_INVALID_FILE_TYPE);
SAME(5020, CU_FILE_DIO_NOT_SET);
SAME(5033, CU_FILE_NVFS_SETUP_ERROR);
SAME(5034, CU_FILE_IO_DISABLED);

extern struct none cu;

#define ROW(member, type, parameters, symbol, hip)                                                 \
    _Static_assert(IS(type, parameters, cu##symbol), "cu" #symbol);
WEIR_GPU_DRIVER(ROW, CUresult, CUdeviceptr, CUcontext)

#define FILE_ROW(member, type, parameters, symbol, hip)                                            \
    _Static_assert(IS(type, parameters, cuFile##symbol), "cuFile" #symbol);
WEIR_GPU_FILES(FILE_ROW, CUfileError_t, CUfileDescr_t, CUfileDrvProps_t)

/* The names that are looked up are those that the headers make of these. */
#define TEXT(x) #x
#define NAME(x) TEXT(x)
const char *const looked_up[] = { NAME(cuMemAlloc), NAME(cuMemFree), NAME(cuMemcpyHtoD), NAME(cuMemcpyDtoH),
                                  NAME(cuDevicePrimaryCtxRelease), NAME(cuFileDriverClose) };
#endif
