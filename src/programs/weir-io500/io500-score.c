/* SPDX-License-Identifier: BSD-3-Clause */
/* io500-score.c - the score of IO500, and the lines that show it */
#include "programs/weir-io500/io500.h"

#include <math.h>

struct io500_score io500_score_of(const double *score, bool extended)
{
    double logs[IO500_MD + 1] = { 0 };
    int n[IO500_MD + 1] = { 0 };
    struct io500_score s;

    for (int i = 0; io500_phases[i].name; i++)
        if ((extended || io500_phases[i].standard) && score[i] > 0) {
            logs[io500_phases[i].group] += log(score[i]);
            n[io500_phases[i].group]++;
        }
    s.bw = n[IO500_BW] ? exp(logs[IO500_BW] / n[IO500_BW]) : 0;
    s.iops = n[IO500_MD] ? exp(logs[IO500_MD] / n[IO500_MD]) : 0;
    s.total = sqrt(s.bw * s.iops);
    return s;
}

int64_t io500_mdw_files(double rate, double stonewall_s, int ranks)
{
    double files = rate * fmin(stonewall_s, 60) / ranks / 10;

    return files >= 1 && files < 1e15 ? (int64_t)files : 1;
}

void io500_line(const struct io500_phase *phase, double score, double seconds, bool valid, struct weir_str *out)
{
    weir_str_addf(out, "[%s] %20s %15f %s : time %.3f seconds%s", phase->group == IO500_NONE ? "      " : "RESULT", phase->name,
                  score, io500_in_bytes(phase) ? "GiB/s" : "kIOPS", seconds,
                  valid ? "" : " [INVALID]");
}

void io500_score_line(const char *name, const struct io500_score *score, bool valid, struct weir_str *out)
{
    weir_str_addf(out, "[%s] Bandwidth %f GiB/s : IOPS %f kiops : TOTAL %f%s", name, score->bw, score->iops, score->total,
                  valid ? "" : " [INVALID]");
}
