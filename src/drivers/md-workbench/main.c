/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the program md-workbench */
#include "config.h"
#include "drivers/md-workbench/mdw.h"

int main(int argc, char **argv)
{
    return weir_main(&weir_mdw, argc, argv);
}
