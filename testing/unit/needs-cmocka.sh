#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands for the unit tests where they cannot be built.
echo "skipped: the unit tests need cmocka (Debian: libcmocka-dev); install it and configure again"
exit 77
