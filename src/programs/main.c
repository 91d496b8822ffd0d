/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - main() of every program whose driver has a line WEIR_PROGRAM: the Makefile compiles it
 * for each with the program's name and the driver */
#include "config.h"

#include <string.h>

#include "engine/driver.h"

extern const struct weir_driver WEIR_MAIN_DRIVER;

/* Drivers of several programs know theirs by its address, so only one of another name is copied. */
int main(int argc, char **argv)
{
    struct weir_driver named = WEIR_MAIN_DRIVER;

    if (strcmp(named.name, WEIR_MAIN_NAME) == 0)
        return weir_main(&WEIR_MAIN_DRIVER, argc, argv);
    named.name = WEIR_MAIN_NAME;
    return weir_main(&named, argc, argv);
}
