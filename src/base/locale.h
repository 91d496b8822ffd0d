/* SPDX-License-Identifier: BSD-3-Clause */
/* locale.h - numbers, dates and words in the C locale, whatever a program around us has chosen */
#ifndef WEIR_BASE_LOCALE_H
#define WEIR_BASE_LOCALE_H

#include <locale.h>

/* Give this thread the C locale. Returns the one it had, for uselocale. The C locale is a constant
 * of the C library and is not freed. A new thread begins with the locale of the process. Local. */
static inline locale_t weir_locale_plain(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

#endif
