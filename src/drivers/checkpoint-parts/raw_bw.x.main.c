/* SPDX-License-Identifier: BSD-3-Clause */
/* raw_bw.x.main.c - raw_bw.x */
#include "config.h"
#include "drivers/checkpoint-parts/parts.h"

int main(int argc, char **argv)
{
    return weir_main(&parts_raw, argc, argv);
}
