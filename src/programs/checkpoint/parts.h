/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h - raw_bw.x, gatherv.x and combo.x: the parts of a checkpoint alone */
#ifndef WEIR_PROGRAMS_CHECKPOINT_PARTS_H
#define WEIR_PROGRAMS_CHECKPOINT_PARTS_H

#include "engine/driver.h"

extern const struct weir_driver parts_raw, parts_gatherv, parts_combo;

#endif
