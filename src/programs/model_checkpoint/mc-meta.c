/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-meta.c - the metadata of a checkpoint: a text that is written last, and without which there is no checkpoint */
#include "programs/model_checkpoint/mc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/size.h"
#include "par/agree.h"
#include "par/reduce.h"

#define TITLE "weir model_checkpoint 1"

/* ---- written ---- */

static void add_head(const struct mc_test *t, struct weir_str *s)
{
    const struct mc_options *o = t->o;
    const struct mc_shape *x = &t->job.shape;

    weir_str_addf(s, TITLE "\nstep = %" PRId64 "\nsequence = %" PRId64 "\nlayout = %s\n",
                  t->pub.step, t->pub.sequence, mc_layout_names[t->layout]);
    weir_str_addf(s, "ranks = %" PRId64 "\n", mc_job_ranks(&t->job));
    if (t->play.tasks > 0)
        weir_str_addf(s, "first = %d\nlast = %d\n", t->play.first,
                      t->play.first + t->play.tasks - 1);
    weir_str_addf(s, "tp = %" PRId64 "\npp = %" PRId64 "\ndp = %" PRId64 "\nep = %" PRId64 "\nzero = %" PRId64 "\nspread = %d\n",
                  x->tp,
                  x->pp, x->dp, x->ep, x->zero, x->spread);
    weir_str_addf(s, "api = %s\n", t->session.be->name);
    if (o->packet)
        weir_str_addf(s, "data = %s\n", o->packet);
    weir_str_addf(s, "dtype = %s\noptimizer = %s\nalign = %" PRId64 "\nbytes = %" PRIu64 "\nmodel {\n", o->dtype, o->optimizer,
                  o->align, mc_job_bytes(&t->job));
    mc_model_write(&t->job.model, s);
    weir_str_addf(s, "}\n");
}

#define LAST 21 /* bytes of the last line: with its line break, or with a NUL in its place */

/* "end HASH", of the len bytes before it. */
static void show_last(const char *text, size_t len, char out[LAST])
{
    snprintf(out, LAST, "end %016" PRIx64, weir_hash(WEIR_HASH_BEGIN, text, len));
}

static void add_piece(void *arg, const char *bytes, size_t len)
{
    weir_str_add(arg, bytes, len);
}

/* Bytes of the file of arrays that was saved; 0: it has only a part of the data. A network file
 * system knows what other nodes have written when the file is opened. */
static int arrays_size(struct mc_test *t, uint64_t *bytes, struct weir_err *err)
{
    const char *path = mc_path(t, weir_str_text(&t->pub.staged), MC_ARRAYS_FILE, err);
    struct stat st = { .st_size = 0 };
    int fd, rc = 0;

    *bytes = 0;
    if (!path || (t->session.flags & WEIR_BE_OTHER_SIZE))
        return path ? 0 : -1;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        rc = weir_fail(err, WEIR_EIO, "get the size of '%s'", path);
    if (fd >= 0)
        close(fd);
    *bytes = (uint64_t)st.st_size;
    return rc;
}

int mc_meta_write(struct weir_run *run, struct mc_test *t, struct weir_str *out, struct weir_err *err)
{
    bool is_arrays = t->layout == MC_ARRAYS && run->par.rank == 0;
    struct weir_str own = { 0 };
    uint64_t bytes = 0;
    char last[LAST];
    int rc, sized = is_arrays ? arrays_size(t, &bytes, err) : 0;

    if (is_arrays)
        weir_str_addf(&own, "region %s 0 0 0 %" PRIu64 " 0\n", t->save.region[0].file, t->save.bytes);
    for (int k = 0; t->layout != MC_ARRAYS && k < t->save.regions; k++)
        if (t->save.region[k].lines > 0)
            weir_str_addf(&own, "region %s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", t->save.region[k].file,
                          t->save.region[k].rank,
                          t->save.region[k].at, t->save.region[k].head, t->save.region[k].bytes, t->save.region[k].lines);
    if (run->par.rank == 0)
        add_head(t, out);
    if (bytes > 0)
        weir_str_addf(out, "file_bytes = %" PRIu64 "\n", bytes);
    rc = weir_pieces(&run->par, &own, add_piece, out);
    weir_str_free(&own);
    show_last(weir_str_text(out), out->len, last);
    if (run->par.rank == 0)
        weir_str_addf(out, "%s\n", last);
    if (sized < 0)
        rc = -1;
    else if (rc < 0 || out->failed)
        rc = weir_refuse(err, WEIR_ESETUP, "no memory for the metadata of the checkpoint");
    return weir_agree(&run->par, rc, err);
}

/* ---- read ---- */

/* A text on its way through read_lines. */
struct reader {
    struct mc_meta *m;
    struct mc_model model;
    struct mc_shape shape;
    const char *layout;
    int64_t spread;
    size_t size;
    const char *end; /* the last line; NULL: not yet read */
};

/* The key, " = " and the value of a line. NULL: it is no such line. */
static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);

    return strncmp(line, key, n) == 0 && strncmp(line + n, " = ", 3) == 0 ? line + n + 3 : NULL;
}

static bool read_key(struct reader *r, const char *line)
{
    const struct {
        const char *key;
        int64_t *to;
    } numbers[] = {
        { "step", &r->m->step },  { "sequence", &r->m->sequence }, { "ranks", &r->m->ranks }, { "align", &r->m->align },
        { "bytes", &r->m->bytes }, { "first", &r->m->first },       { "last", &r->m->last },
        { "file_bytes", &r->m->file_bytes },
        { "tp", &r->shape.tp },          { "pp", &r->shape.pp },    { "dp", &r->shape.dp },
        { "ep", &r->shape.ep },   { "zero", &r->shape.zero },      { "spread", &r->spread },
    };
    const struct {
        const char *key, **to;
    } words[] = { { "layout", &r->layout }, { "dtype", &r->m->dtype }, { "optimizer", &r->m->optimizer }, { "api", &r->m->api },
                  { "data", &r->m->packet } };
    const char *value;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if ((value = value_of(line, numbers[i].key)))
            return weir_size_parse(value, 0, INT64_MAX, numbers[i].to, NULL) == 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if ((value = value_of(line, words[i].key)))
            return (*words[i].to = value) != NULL;
    return false;
}

/* "region FILE RANK AT HEAD BYTES LINES"; a name without a directory. */
static bool read_region(struct reader *r, const char *line)
{
    const struct mc_region *last = r->m->regions > 0 ? &r->m->region[r->m->regions - 1] : NULL;
    struct mc_region x = { .rank = 0 };
    uint64_t rank;
    int end = 0;

    if (sscanf(line, "region %63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
               x.file, &rank, &x.at, &x.head, &x.bytes, &x.lines, &end) != 6 ||
        line[end] || strchr(x.file, '/') || *x.file == '.')
        return false;
    x.rank = (int)rank;
    if (rank >= (uint64_t)r->m->ranks || r->m->align <= 0 || x.lines > UINT32_MAX ||
        x.bytes > INT64_MAX || x.at > INT64_MAX || x.head > x.bytes || x.head != (x.lines > 0 ? mc_aligned((x.lines + 1) * MC_LINE,
            (uint64_t)r->m->align) : 0))
        return false;
    /* in the order of their ranks, and a rank has one region of a file */
    if (last && (last->rank > x.rank || (last->rank == x.rank && strcmp(last->file, x.file) == 0)))
        return false;
    if (!weir_mem_reserve(&r->m->region, (size_t)r->m->regions, &r->size, sizeof(*r->m->region)))
        return false;
    r->m->region[r->m->regions++] = x;
    return true;
}

/* The lines up to one with '}'; *at is then after it, and they are added to the number of lines. */
static int read_model(struct reader *r, char **at, int *number, const char *path,
                      struct weir_err *err)
{
    char *begin = *at, *end = strncmp(begin, "}\n", 2) == 0 ? begin : strstr(begin, "\n}\n");
    int rc;

    if (!end)
        return weir_refuse(err, WEIR_EDATA, "'%s': the model has no closing '}'", path);
    end += *end == '\n';
    *at = end + 2;
    rc = mc_model_read(begin, (size_t)(end - begin), path, *number, &r->m->arena, &r->model, err);
    for (const char *c = begin; c < *at; c++)
        *number += *c == '\n';
    if (rc == 0)
        return 0;
    err->code = WEIR_EDATA;
    return weir_err_within(err, "the model in");
}

static int read_lines(struct reader *r, char *at, const char *path, struct weir_err *err)
{
    for (int number = 1; *at; number++) {
        char *line = at, *end = strchr(at, '\n');
        bool good;

        if (!end)
            return weir_refuse(err, WEIR_EDATA, "'%s': line %d is incomplete", path, number);
        *end = '\0';
        at = end + 1;
        if (strcmp(line, "model {") == 0) {
            if (read_model(r, &at, &number, path, err) < 0)
                return -1;
            continue;
        }
        r->end = strncmp(line, "end ", 4) == 0 ? line : NULL;
        good = number == 1 ? strcmp(line, TITLE) == 0
               : r->end ? *at == '\0'
               : strncmp(line, "region ", 7) == 0 ? read_region(r, line)
                                                  : read_key(r, line);
        if (!good)
            return weir_refuse(err, WEIR_EDATA, "'%s': line %d: '%.60s' is not understood", path, number, line);
    }
    return 0;
}

/* True when the metadata have all that is needed, in possible numbers. */
static bool is_whole(struct reader *r)
{
    struct mc_meta *m = r->m;

    while (r->layout && m->layout < MC_LAYOUTS && strcmp(r->layout, mc_layout_names[m->layout]) != 0)
        m->layout++;
    r->shape.spread = r->spread != 0;
    m->last = m->last < 0 ? m->ranks - 1 : m->last;
    return r->end && r->layout && m->layout < MC_LAYOUTS && m->dtype && m->optimizer && m->api && m->ranks > 0 &&
        m->ranks <= INT32_MAX && m->first <= m->last && m->last < m->ranks &&
           m->align > 0 && m->regions > 0 && m->sequence > 0 && r->model.layers > 0;
}

int mc_meta_read(struct mc_meta *m, char *text, size_t len, const char *path, struct weir_err *err)
{
    struct reader r = { .m = m };
    char last[LAST];

    show_last(text, len < LAST ? 0 : len - LAST, last);
    *m = (struct mc_meta) { .text = text, .last = -1 };
    if (strlen(text) != len)
        return weir_refuse(err, WEIR_EDATA, "'%s': " WEIR_NOT_TEXT, path);
    if (read_lines(&r, text, path, err) < 0)
        return -1;
    if (!is_whole(&r))
        return weir_refuse(err, WEIR_EDATA, "'%s' is incomplete", path);
    if ((!m->packet || weir_pattern_parse(&m->data, "data", m->packet, weir_pattern_random, err) == 0) &&
        mc_job_init(&m->job, &r.model, &r.shape, m->dtype, m->optimizer, (int)m->ranks, err) == 0 &&
        (mc_job_bytes(&m->job) == (uint64_t)m->bytes ||
         weir_refuse(err, WEIR_EDATA, "bytes = %" PRId64 ", but the tensors of the model have %" PRIu64, m->bytes,
                     mc_job_bytes(&m->job)) == 0) &&
        (strcmp(r.end, last) == 0 ||
         weir_refuse(err, WEIR_EDATA, "the checksum in the last line is wrong") == 0))
        return 0;
    err->code = WEIR_EDATA;
    return weir_err_within(err, "'%s'", path);
}

void mc_meta_free(struct mc_meta *m)
{
    free(m->text);
    free(m->region);
    weir_arena_free(&m->arena);
    *m = (struct mc_meta) { .text = NULL };
}
