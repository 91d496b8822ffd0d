# SPDX-License-Identifier: BSD-3-Clause
# aio.m4 - find the library of Linux asynchronous I/O
m4_define([weir_with_aio_alias], [libaio])
m4_define([weir_backend_aio_needs], [libaio])
m4_define([weir_backend_aio_package], [libaio-dev])
m4_define([weir_backend_aio_find], [WEIR_FIND_PKG([libaio], [-laio], [[#include <libaio.h>]],
  [[io_context_t ctx = 0; struct iocb *cb = 0; return io_setup(1, &ctx) + io_submit(ctx, 1, &cb);]])])
