/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - mib */
#include "config.h"
#include "drivers/mib/mib.h"

int main(int argc, char **argv)
{
    return weir_main(&weir_mib, argc, argv);
}
