/* SPDX-License-Identifier: BSD-3-Clause */
/* banned.h - functions that cannot be used safely are compile errors; the build includes this file
 * into every object */
#pragma once

/* The declarations first: a macro of the same name would change them later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name in the compiler's message says what is wrong. The idea is git's. */
#define WEIR_BANNED(func) sorry_##func##_is_a_banned_function

/* Unbounded: use struct weir_str, or snprintf with its result checked. */
#undef sprintf
#define sprintf(...) WEIR_BANNED(sprintf)
#undef vsprintf
#define vsprintf(buf, fmt, ap) WEIR_BANNED(vsprintf)
#undef strcpy
#define strcpy(to, from) WEIR_BANNED(strcpy)
#undef strcat
#define strcat(to, from) WEIR_BANNED(strcat)
#undef gets
#define gets(buf) WEIR_BANNED(gets)

/* Bounded, but does not end the string or counts the wrong thing. */
#undef strncpy
#define strncpy(to, from, n) WEIR_BANNED(strncpy)
#undef strncat
#define strncat(to, from, n) WEIR_BANNED(strncat)

/* Hidden state. */
#undef strtok
#define strtok(text, between) WEIR_BANNED(strtok)

/* Takes "inf" and "0x1p3" for numbers: use weir_real_scan. */
#undef strtod
#define strtod(text, end) WEIR_BANNED(strtod)

/* Garbage is a number to these: use weir_size_parse and friends, or strtoll with the end
 * checked. */
#undef atoi
#define atoi(text) WEIR_BANNED(atoi)
#undef atol
#define atol(text) WEIR_BANNED(atol)
#undef atoll
#define atoll(text) WEIR_BANNED(atoll)
#undef atof
#define atof(text) WEIR_BANNED(atof)
