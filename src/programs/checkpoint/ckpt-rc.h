/* SPDX-License-Identifier: BSD-3-Clause */
/* ckpt-rc.h - resource files: lines "KEY: value  # comment" */
#ifndef WEIR_PROGRAMS_CHECKPOINT_CKPT_RC_H
#define WEIR_PROGRAMS_CHECKPOINT_CKPT_RC_H

#include "base/text/script.h"

/* As weir_script_read for a file of such lines: each is handed on as a directive KEY=value, and
 * the file is one test. Empty lines and comments are skipped. A line without a colon, key or value
 * is refused. Returns 0, or -1 and err (WEIR_EUSAGE) "FILE:LINE: ...". Local. */
int weir_rc_read(const char *text, size_t len, const char *name,
                 const struct weir_script_sink *sink, struct weir_err *err);

#endif
