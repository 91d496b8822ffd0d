# SPDX-License-Identifier: BSD-3-Clause
# uring.m4 - find the library of io_uring
m4_define([weir_with_uring_alias], [liburing])
m4_define([weir_backend_uring_needs], [liburing])
m4_define([weir_backend_uring_package], [liburing-dev])
m4_define([weir_backend_uring_find], [WEIR_FIND_PKG([liburing], [-luring], [[#include <liburing.h>]],
  [[struct io_uring ring; return io_uring_queue_init(1, &ring, IORING_SETUP_CLAMP) + io_uring_register_files_sparse(&ring, 1);]])])
