/* SPDX-License-Identifier: BSD-3-Clause */
/* lustreapi.h - stand-in for the part of Lustre's interface that weir uses; see stand-ins.c */
#ifndef STAND_IN_LUSTREAPI_H
#define STAND_IN_LUSTREAPI_H

#include <sys/ioctl.h>

#define LL_FILE_IGNORE_LOCK 1
#define LL_IOC_SETFLAGS _IOW('f', 152, long)

enum llapi_message_level { LLAPI_MSG_OFF, LLAPI_MSG_FATAL };

void llapi_msg_set_level(int level);
int llapi_file_open_pool(const char *name, int flags, int mode, unsigned long long stripe_size,
                         int stripe_offset, int stripe_count, int stripe_pattern, char *pool_name);
int llapi_dir_set_default_lmv_stripe(const char *name, int stripe_offset, int stripe_count,
                                     int stripe_pattern, const char *pool_name);

#endif
