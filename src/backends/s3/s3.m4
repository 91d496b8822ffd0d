# SPDX-License-Identifier: BSD-3-Clause
# s3.m4 - find the libraries of the S3 protocol: HTTP with signatures, XML, SHA-256
m4_define([weir_with_s3_alias], [libcurl])
m4_define([weir_backend_s3_needs], [libcurl >= 7.66 and expat and libcrypto])
m4_define([weir_backend_s3_package], [libcurl4-openssl-dev libexpat1-dev libssl-dev])
m4_define([weir_backend_s3_find], [WEIR_FIND_PKG([libcurl expat libcrypto], [-lcurl -lexpat -lcrypto], [[#include <curl/curl.h>
#include <expat.h>
#include <openssl/evp.h>
#if LIBCURL_VERSION_NUM < 0x074200
#error "curl_multi_poll is missing"
#endif
]], [[return (int)curl_multi_poll(curl_multi_init(), NULL, 0, 0, NULL) + (XML_ParserCreate("UTF-8") != 0) + (EVP_sha256() != 0);]])])
