# SPDX-License-Identifier: BSD-3-Clause
# s3.m4 - find the libraries of the S3 protocol: HTTP with signatures, XML, SHA-256
m4_define([weir_with_s3_alias], [libcurl])
m4_define([weir_backend_s3_needs], [libcurl >= 7.86 and expat and libcrypto])
m4_define([weir_backend_s3_package], [libcurl4-openssl-dev libexpat1-dev libssl-dev])
m4_define([weir_backend_s3_find], [WEIR_FIND_PKG([libcurl expat libcrypto], [-lcurl -lexpat -lcrypto], [[#include <curl/curl.h>
#include <expat.h>
#include <openssl/evp.h>
#if LIBCURL_VERSION_NUM < 0x075600
#error "its signatures (AWS_SIGV4) leave out headers that the protocol signs"
#endif
]], [[return (int)curl_easy_setopt(curl_easy_init(), CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:s3") +
  (XML_ParserCreate("UTF-8") != 0) + (EVP_sha256() != 0);]])])
