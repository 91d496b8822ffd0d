/* SPDX-License-Identifier: BSD-3-Clause */
/* combo.x.main.c - combo.x */
#include "config.h"
#include "drivers/checkpoint-parts/parts.h"

int main(int argc, char **argv)
{
    return weir_main(&parts_combo, argc, argv);
}
