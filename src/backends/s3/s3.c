/* SPDX-License-Identifier: BSD-3-Clause */
/* s3.c - S3: files are objects in a bucket */

#include <curl/curl.h>

#include "backends/s3/s3-objects.h"

static const char *version(void)
{
    return "libcurl " LIBCURL_VERSION;
}

static int check(struct weir_session *s, const struct weir_extent *extent, struct weir_err *err)
{
    const struct s3_options *o = s->opt;
    struct s3_service sv;
    struct s3_parts parts;

    if (o->bucket && s3_bucket_check(o->bucket, err) < 0)
        return -1;
    if (o->part > 0 && o->part < o->part_least)
        return weir_refuse(err, WEIR_EUSAGE, "--s3.part=%lld is less than --s3.part-least=%lld, "
                                             "the smallest part that the service accepts",
                                             (long long)o->part, (long long)o->part_least);
    if (s3_service_begin(&sv, s, err) < 0)
        return -1;
    s3_service_end(&sv);
    if (s3_is_split(o) && o->part > 0)
        return weir_refuse(err, WEIR_EUSAGE,
                           "--s3.part with --s3.object=transfer: each transfer is an object "
                           "without parts; leave one of the options out");
    if (s->access.directories && !o->markers)
        return weir_refuse(err, WEIR_EUSAGE, "directories exist only as prefixes of names, so they "
                                             "cannot be measured; give --s3.markers, which creates "
                                             "an object for each, or test files only (-F)");
    if (s->access.partly && !s3_is_split(o))
        return weir_refuse(err, WEIR_EUSAGE, "%s: an object is written as a whole, and no part of "
                                             "it can be replaced or left out; leave the option "
                                             "out, or give --s3.object=transfer", s->access.partly);
    return extent ? s3_parts_of(s, extent, &parts, err) : 0;
}

static int check_name(const struct weir_session *s, const char *path, struct weir_err *err)
{
    struct weir_str bucket = { 0 }, key = { 0 };
    int rc = s3_locate(s->opt, path, &bucket, &key, err);

    weir_str_free(&bucket);
    weir_str_free(&key);
    return rc;
}

static int end(struct weir_session *s, struct weir_err *err)
{
    struct s3 *s3 = s->priv;

    s3_client_close(s3->client);
    s3_queue_end(&s3->queue);
    s3_service_end(&s3->service);
    s3_transfer_end(&s3->single);
    return 0;
}

static int begin(struct weir_session *s, struct weir_err *err)
{
    const struct s3_options *o = s->opt;
    struct s3 *s3 = s->priv;

    if (s3_service_begin(&s3->service, s, err) < 0)
        return -1;
    s3_service_note(&s3->service, s);
    s3->stats.endpoint = s3->service.urls;
    s3->stats.endpoints = (int)s3->service.all.n;
    s3->stats.own = s3->service.own;
    s->service = &s3->stats;
    s3->queue.part = (size_t)(o->part ? o->part : o->part_least);
    s3->client = s3_client_open(&s3->service, s, 2 * s->depth /* parts and transfers */,
                                s3_answer_header, s3_answer_body, err);
    if (s3->client && s3_queue(s, 1, err) == 0)
        return 0;
    end(s, NULL);
    return -1;
}

static void applied(struct weir_session *s, struct weir_file *f, struct weir_applied *out)
{
    const struct s3_options *o = s->opt;
    const struct s3_client *c = s3_of(s)->client;

    out->endpoints = (int)s3_of(s)->service.all.n;
    out->connections = o->connections > 0 && o->connections < s->depth ? o->connections : s->depth;
    if (c->http2 && c->connections < (uint64_t)out->connections) /* all transfers share them */
        out->connections = (int)c->connections;
    out->memory = o->server_memory;
    out->memory_option = "--s3.server-memory";
}

static void describe(struct weir_file *wf, struct weir_str *out)
{
    const struct s3_file *f = (const struct s3_file *)wf;
    const struct s3 *s3 = s3_of(wf->s);

    s3_service_describe(&s3->service, out);
    if (f->way == S3_SPLIT)
        weir_str_addf(out, "objects = one for each transfer\n");
    else if (f->writes && f->parts.single)
        weir_str_addf(out, "objects = one for each file, written by one PUT\n");
    else if (f->writes)
        weir_str_addf(out, "objects = one for each file, written in parts of %llu bytes%s\n",
                      (unsigned long long)f->parts.size, f->parts.coalesced ? " that are gathered" : "");
}

const struct weir_backend weir_plugin = {
    S3_DESCRIPTOR,
    .priv_size = sizeof(struct s3),
    .file_size = sizeof(struct s3_file),
    .version = version,
    .check = check,
    .check_name = check_name,
    .begin = begin,
    .end = end,
    .open = s3_open,
    .close = s3_close,
    .xfer = s3_xfer,
    .queue = s3_queue,
    .submit = s3_submit,
    .complete = s3_complete,
    .reason = s3_reason,
    .describe = describe,
    .applied = applied,
    .ns = &s3_names,
};
