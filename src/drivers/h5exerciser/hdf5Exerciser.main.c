/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5Exerciser.main.c - h5exerciser under the name that scripts know */
#include "config.h"

#include "drivers/h5exerciser/h5ex.h"

int main(int argc, char **argv)
{
    struct weir_driver named = h5ex_driver;

    named.name = "hdf5Exerciser";
    return weir_main(&named, argc, argv);
}
