/* SPDX-License-Identifier: BSD-3-Clause */
/* restart_simulator.x.main.c - restart_simulator.x */
#include "config.h"
#include "drivers/checkpoint/ckpt.h"

int main(int argc, char **argv)
{
    return weir_main(&ckpt_restart, argc, argv);
}
