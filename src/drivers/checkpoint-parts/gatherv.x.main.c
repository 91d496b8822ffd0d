/* SPDX-License-Identifier: BSD-3-Clause */
/* gatherv.x.main.c - gatherv.x */
#include "config.h"
#include "drivers/checkpoint-parts/parts.h"

int main(int argc, char **argv)
{
    return weir_main(&parts_gatherv, argc, argv);
}
