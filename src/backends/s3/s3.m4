# SPDX-License-Identifier: BSD-3-Clause
# s3.m4 - find the libraries of the S3 protocol: HTTP with signatures, XML, SHA-256
m4_define([weir_with_s3_alias], [libcurl])
m4_define([weir_backend_s3_needs], [libcurl >= 7.66 and expat and libcrypto])
m4_define([weir_backend_s3_package], [libcurl4-openssl-dev libexpat1-dev libssl-dev])
m4_define([weir_backend_s3_find], [
WEIR_FIND_PKG([libcurl expat libcrypto], [-lcurl -lexpat -lcrypto], [[#include <curl/curl.h>
#include <expat.h>
#include <openssl/evp.h>
#if LIBCURL_VERSION_NUM < 0x074200
#error "curl_multi_poll is missing"
#endif
]], [[return (int)curl_multi_poll(curl_multi_init(), NULL, 0, 0, NULL) + (XML_ParserCreate("UTF-8") != 0) + (EVP_sha256() != 0);]])
WEIR_EXPAT_LINE_NUMBER
])

# WEIR_EXPAT_LINE_NUMBER
# expat 2.9 deprecates the call that all older versions have.
AC_DEFUN([WEIR_EXPAT_LINE_NUMBER], [
weir_expat_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$weir_cflags $CPPFLAGS"
AC_CHECK_DECL([XML_GetCurrentLineNumber64], [weir_expat_line=XML_GetCurrentLineNumber64],
  [weir_expat_line=XML_GetCurrentLineNumber], [[#include <expat.h>]])
CPPFLAGS=$weir_expat_CPPFLAGS
AC_DEFINE_UNQUOTED([EXPAT_LINE_NUMBER], [$weir_expat_line], [The call of expat for the line of an error.])
])
