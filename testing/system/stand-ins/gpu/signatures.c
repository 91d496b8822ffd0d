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

#ifdef HIP
#include "hip.h"

extern struct none hip;

#define ROW(member, type, parameters, cuda, symbol)                                                \
    _Static_assert(IS(type, parameters, hip##symbol), "hip" #symbol);
WEIR_GPU_DRIVER(ROW, int, void *, void *)
#else
#include <cuda.h>
#include <cufile.h>

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

extern struct none cu;

#define ROW(member, type, parameters, symbol, hip)                                                 \
    _Static_assert(IS(type, parameters, cu##symbol), "cu" #symbol);
WEIR_GPU_DRIVER(ROW, CUresult, CUdeviceptr, CUcontext)

#define FILE_ROW(member, type, parameters, symbol, hip)                                                \
    _Static_assert(IS(type, parameters, cuFile##symbol), "cuFile" #symbol);
FILES(FILE_ROW, CUfileError_t, CUfileDescr_t, CUfileDrvProps_t)

/* The names that are looked up are those that the headers make of these. */
#define TEXT(x) #x
#define NAME(x) TEXT(x)
const char *const looked_up[] = { NAME(cuMemAlloc), NAME(cuMemFree), NAME(cuMemcpyHtoD), NAME(cuMemcpyDtoH),
                                  NAME(cuDevicePrimaryCtxRelease), NAME(cuFileDriverClose) };
#endif
