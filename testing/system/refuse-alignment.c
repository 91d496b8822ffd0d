/* SPDX-License-Identifier: BSD-3-Clause */
/* refuse-alignment.c - for LD_PRELOAD: HDF5 has no memory for the list of how a file is accessed */
int H5Pset_alignment(long list, unsigned long long least, unsigned long long multiple)
{
    (void)list, (void)least, (void)multiple;
    return -1;
}
