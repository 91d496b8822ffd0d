/* SPDX-License-Identifier: BSD-3-Clause */
/* lustreapi.h - stand-in for the part of Lustre's interface that weir uses; see stand-ins.c */
#ifndef STAND_IN_LUSTREAPI_H
#define STAND_IN_LUSTREAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

#define LL_FILE_IGNORE_LOCK 1
#define LL_IOC_SETFLAGS _IOW('f', 152, long)

enum llapi_message_level { LLAPI_MSG_OFF, LLAPI_MSG_FATAL };

void llapi_msg_set_level(int level);
int llapi_file_open_pool(const char *name, int flags, int mode, unsigned long long stripe_size,
                         int stripe_offset, int stripe_count, int stripe_pattern, char *pool_name);
int llapi_dir_set_default_lmv_stripe(const char *name, int stripe_offset, int stripe_count,
                                     int stripe_pattern, const char *pool_name);

#define LLAPI_LAYOUT_WIDE 0x1000000000000001ULL
#define LLAPI_LAYOUT_OVERSTRIPING 4

struct llapi_layout;
struct llapi_layout *llapi_layout_alloc(void);
void llapi_layout_free(struct llapi_layout *layout);
int llapi_layout_stripe_count_set(struct llapi_layout *layout, uint64_t count);
int llapi_layout_stripe_size_set(struct llapi_layout *layout, uint64_t size);
int llapi_layout_pattern_set(struct llapi_layout *layout, uint64_t pattern);
int llapi_layout_pool_name_set(struct llapi_layout *layout, const char *pool_name);
int llapi_layout_ost_index_set(struct llapi_layout *layout, int stripe_number, uint64_t ost_index);
int llapi_layout_file_open(const char *path, int open_flags, unsigned mode,
                           const struct llapi_layout *layout);

#endif
