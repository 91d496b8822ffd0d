/* SPDX-License-Identifier: BSD-3-Clause */
/* s3-xml.c - answers in XML, one element after the other */

#include <expat.h>
#include <stdbool.h>
#include <string.h>

#include "backends/s3/s3-forms.h"

#define DEPTH 32 /* elements in one another; those of the protocol have 5 */

struct walk {
    XML_Parser parser;
    s3_element_fn *take;
    void *mine;
    size_t cut[DEPTH]; /* bytes of path before each name */
    int depth;
    struct weir_str path, words;
    bool ended;      /* before the end of the text: by take, or because of */
    const char *bad; /* what is wrong */
};

static void stop(struct walk *w, const char *bad)
{
    w->ended = true;
    w->bad = bad;
    XML_StopParser(w->parser, XML_FALSE);
}

static void begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct walk *w = user;
    const char *colon = strrchr(name, ':'), *own = colon ? colon + 1 : name;

    if (w->ended)
        return; /* the parser may still have some */
    if (w->depth == DEPTH) {
        stop(w, "its elements are nested too deeply");
        return;
    }
    weir_str_clear(&w->words);
    w->cut[w->depth++] = w->path.len;
    if (w->path.len)
        weir_str_addc(&w->path, '/');
    weir_str_add(&w->path, own, strlen(own));
}

static void end(void *user, const XML_Char *name)
{
    struct walk *w = user;

    if (w->ended)
        return;
    if (w->path.failed || w->words.failed) {
        stop(w, "no memory for it");
    } else if (w->take(w->mine, weir_str_text(&w->path), weir_str_text(&w->words)) < 0) {
        stop(w, NULL);
    } else {
        weir_str_clear(&w->words);
        w->path.len = w->cut[--w->depth];
        w->path.text[w->path.len] = '\0';
    }
}

static void characters(void *user, const XML_Char *text, int len)
{
    struct walk *w = user;

    weir_str_add(&w->words, text, (size_t)len);
}

/* Entities could make gigabytes of a few lines; only a document type can declare some. */
static void doctype(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *id, int internal)
{
    stop(user, "it has a document type declaration");
}

int s3_xml(const struct weir_str *text, s3_element_fn *take, void *mine, struct weir_err *err)
{
    struct walk w = { .parser = XML_ParserCreate("UTF-8"), .take = take, .mine = mine };
    int rc = -1;

    if (!w.parser)
        return weir_refuse(err, WEIR_ESETUP, "no memory to read a response");
    XML_SetUserData(w.parser, &w);
    XML_SetElementHandler(w.parser, begin, end);
    XML_SetCharacterDataHandler(w.parser, characters);
    XML_SetStartDoctypeDeclHandler(w.parser, doctype);
    if (XML_Parse(w.parser, weir_str_text(text), (int)text->len, 1) == XML_STATUS_OK && !w.ended)
        rc = 0;
    else if (w.bad)
        weir_refuse(err, WEIR_EIO, "the response is not S3 XML: %s", w.bad);
    else if (!w.ended) /* else take has filled err */
        weir_refuse(err, WEIR_EIO, "the response is not XML: line %lu: %s",
                    (unsigned long)EXPAT_LINE_NUMBER(w.parser),
                    XML_ErrorString(XML_GetErrorCode(w.parser)));
    XML_ParserFree(w.parser);
    weir_str_free(&w.path);
    weir_str_free(&w.words);
    return rc;
}

void s3_xml_add(struct weir_str *out, const char *element, const char *text)
{
    weir_str_addf(out, "<%s>", element);
    for (; *text; text++)
        if (*text == '&')
            weir_str_addf(out, "&amp;");
        else if (*text == '<')
            weir_str_addf(out, "&lt;");
        else if (*text == '>')
            weir_str_addf(out, "&gt;");
        else
            weir_str_addc(out, *text);
    weir_str_addf(out, "</%s>", element);
}
