/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - h5exerciser */
#include "config.h"

#include "drivers/h5exerciser/h5ex.h"

int main(int argc, char **argv)
{
    return weir_main(&h5ex_driver, argc, argv);
}
