/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - main() of every program that a line WEIR_PROGRAM declares: the Makefile compiles it for
 * each with the name and the struct of the program */

#include <string.h>

#include "engine/program.h"

extern const struct weir_program WEIR_MAIN_PROGRAM;

/* Code of several programs knows which one runs by the address of its struct, so only one of
 * another name is copied. */
int main(int argc, char **argv)
{
    struct weir_program named = WEIR_MAIN_PROGRAM;

    if (strcmp(named.name, WEIR_MAIN_NAME) == 0)
        return weir_main(&WEIR_MAIN_PROGRAM, argc, argv);
    named.name = WEIR_MAIN_NAME;
    return weir_main(&named, argc, argv);
}
