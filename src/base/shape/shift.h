/* SPDX-License-Identifier: BSD-3-Clause */
/* shift.h - the task at a distance: -C */
#pragma once

/* (rank + shift) mod tasks, for any sign of shift. */
static inline int weir_shift_fixed(int rank, int tasks, long long shift)
{
    long long p = (rank + shift % tasks) % tasks;

    return (int)(p < 0 ? p + tasks : p);
}
