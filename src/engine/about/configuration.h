/* SPDX-License-Identifier: BSD-3-Clause */
/* configuration.h - what a test is: the values that change what is measured, without names of
 * places */
#pragma once

#include "engine/test.h"

/* Report the object "configuration" of run->test, for data readers: program, tasks, nodes,
 * placement and backends. It has the options whose values are not the defaults, with what the
 * program computed from them. Its "hash" is equal for equal tests, in any order and spelling of
 * their options. Rank 0, when an output has details; nothing elsewhere. */
void weir_configuration_report(struct weir_run *run);

/* Append the hash of the configuration. Local, the same on all ranks. */
void weir_configuration_hash(struct weir_run *run, struct weir_str *out);
