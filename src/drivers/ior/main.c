/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the program ior */
#include "config.h"
#include "drivers/ior/ior.h"

int main(int argc, char **argv)
{
    return weir_main(&weir_ior, argc, argv);
}
