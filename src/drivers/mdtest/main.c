/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - the program mdtest */
#include "config.h"
#include "drivers/mdtest/mdtest.h"

int main(int argc, char **argv)
{
    return weir_main(&weir_mdtest, argc, argv);
}
