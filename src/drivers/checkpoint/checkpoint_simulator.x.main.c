/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint_simulator.x.main.c - checkpoint_simulator.x */
#include "config.h"
#include "drivers/checkpoint/ckpt.h"

int main(int argc, char **argv)
{
    return weir_main(&ckpt_checkpoint, argc, argv);
}
