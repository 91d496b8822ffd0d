/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.h - numbers as programs in Fortran write them */
#ifndef WEIR_BASE_FORTRAN_H
#define WEIR_BASE_FORTRAN_H

#define WEIR_FORTRAN_TEXT 32

/* The edit descriptor G16.8: 16 characters with 8 digits, the exponent only where it is needed. Local.
 * Returns out. */
const char *weir_fortran_g(double value, char out[WEIR_FORTRAN_TEXT]);

#endif
