/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - main() of every program whose driver has a line WEIR_PROGRAM: the Makefile compiles it for each
 * with the program's name and the driver */
#include "config.h"
#include "engine/driver.h"

extern const struct weir_driver WEIR_MAIN_DRIVER;

int main(int argc, char **argv)
{
    struct weir_driver named = WEIR_MAIN_DRIVER;

    named.name = WEIR_MAIN_NAME;
    return weir_main(&named, argc, argv);
}
