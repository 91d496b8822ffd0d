/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-options.c - the options of model_checkpoint */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#define O struct mc_options
#define MOST 100000000

static const char *const save_words[] = { "sync", "async", "no", NULL };
static const char *const load_words[] = { "all", "parameters", "no", NULL };
static const char *const preset_words[] = { "mlperf", NULL };
static const char *const who_words[] = { "same", "elsewhere", NULL };

const struct weir_opt mc_opts[] = {
    OPT_RUN(api, 'a', "api", NULL, .help = "I/O backend (default: POSIX)"),
    OPT_STR('o', "path", NULL, O, path, "model_checkpoints", "DIR",
            "Directory, or with -a S3 s3://BUCKET/PREFIX",
            .flags = WEIR_OPT_NEUTRAL | WEIR_OPT_PRIVATE | WEIR_OPT_PLACE, OPT_FIRST(FILES)),
    OPT_STR(0, "model", NULL, O, model, NULL, "NAME|FILE",
            "Model, or file 'key = value' (default: llama3-8b)", .suggestions = mc_model_names,
            .flags = WEIR_OPT_PRIVATE, OPT_FIRST(DATA)),
    OPT_STR(0, "scale", NULL, O, scale, NULL, "SHARE", "Share of the model's parameters",
            OPT_FIRST(DATA)),
    OPT_STR(0, "preset", NULL, O, preset, NULL, "NAME",
            "Values of --tp, --pp, --dp, --zero, --dtype and --optimizer that a benchmark has for "
            "the model (mlperf: MLPerf Storage); options that are given win",
            .choices = preset_words, OPT_IN(DATA)),
    OPT_STR(0, "play", NULL, O, play, NULL, "RANKS",
            "Ranks of a larger job that the tasks are, which save and load their own files only: "
            "64-71, or node:3 (of nodes with as many tasks as here)", OPT_IN(DATA)),
    OPT_INT(0, "tp", NULL, O, tp, "1", "N", "Tensor-parallel ranks", .min = 1, .max = MOST,
            OPT_FIRST(DATA)),
    OPT_INT(0, "pp", NULL, O, pp, "1", "N", "Stages of the pipeline", .min = 1, .max = MOST,
            OPT_FIRST(DATA)),
    OPT_INT(0, "dp", NULL, O, dp, "0", "N", "Data-parallel ranks (0: all that tp and pp leave)",
            .min = 0, .max = MOST, OPT_IN(DATA)),
    OPT_INT(0, "ep", NULL, O, ep, "1", "N", "Data-parallel ranks that share the experts of a layer",
            .min = 1, .max = MOST, OPT_IN(DATA)),
    OPT_INT(0, "zero", NULL, O, zero, "0", "STAGE",
            "State of the optimizer (1, 2), and parameters (3), divided over the data-parallel "
            "ranks", .min = 0, .max = 3, OPT_IN(DATA)),
    OPT_STR(0, "dtype", NULL, O, dtype, NULL, "TYPE", "Elements of the parameters (default: bf16)",
            .choices = mc_dtype_names, OPT_IN(DATA)),
    OPT_STR(0, "optimizer", NULL, O, optimizer, NULL, "NAME",
            "Optimizer, whose state is saved, too; none: parameters only (default: adam)",
            .choices = mc_optimizer_names, OPT_IN(DATA)),
    OPT_STR(0, "layout", NULL, O, layout, "torch", "NAME",
            "Files of a checkpoint: one a rank (torch), one for each tensor-parallel part of each "
            "stage (megatron), parameters so and the optimizer one a rank (deepspeed), one for all "
            "(shared), one of arrays of HDF5 (arrays)", .choices = mc_layout_names, OPT_IN(FILES)),
    OPT_SIZE(0, "align", NULL, O, align, "4k", "SIZE",
             "Alignment of tensors in their file, and of transfers, bytes", .min = 1,
             .max = INT64_C(1) << 30, OPT_IN(FILES)),
    OPT_SIZE('t', "transfer-size", NULL, O, transfer, "16m", "SIZE", "Maximum of a transfer, bytes",
             .min = 1, .max = INT64_C(1) << 31, OPT_IN(ORDER)),
    OPT_FLAG(0, "list", NULL, O, list, "List of what each rank would write (-v: each tensor)",
             .flags = WEIR_OPT_NEUTRAL, OPT_FIRST(OUTPUT)),
    OPT_STR(0, "save", NULL, O, save, "sync", "HOW",
            "Saves: training waits (sync) or goes on (async)", .choices = save_words,
            OPT_FIRST(ORDER)),
    OPT_REAL(0, "compute", NULL, O, compute_s, "0", "SECONDS",
             "Emulated work of a training step, on accelerators: it takes no processor time, and "
             "goes on while an asynchronous save is written; 0 with --save=async: as long as that "
             "takes", .min = 0, .max = INT32_MAX, OPT_IN(ORDER)),
    OPT_INT(0, "every", NULL, O, every, "1", "N", "Training steps from one checkpoint to the next",
            .min = 1, .max = MOST, OPT_IN(ORDER)),
    OPT_INT(0, "keep", NULL, O, keep, "2", "N",
            "Newest checkpoints that stay after each save, others are removed inside the measured "
            "cycle (0: all stay)", .min = 0, .max = MOST, OPT_IN(FILES)),
    OPT_FLAG(0, "remove", NULL, O, remove, "Checkpoints of this run removed at its end",
             .flags = WEIR_OPT_NEUTRAL, OPT_IN(FILES)),
    OPT_STR(0, "load", NULL, O, load, "all", "WHAT",
            "Load of the newest checkpoint: all of it, the parameters, or none (no)",
            .choices = load_words, OPT_IN(ORDER)),
    OPT_INT(0, "load-tp", NULL, O, load_tp, "0", "N",
            "Tensor-parallel ranks that load (0: as saved)", .min = 0, .max = MOST, OPT_IN(ORDER)),
    OPT_INT(0, "load-pp", NULL, O, load_pp, "0", "N",
            "Stages of the pipeline that load (0: as saved)", .min = 0, .max = MOST, OPT_IN(ORDER)),
    OPT_INT(0, "load-dp", NULL, O, load_dp, "0", "N",
            "Data-parallel ranks that load, further ranks do nothing (0: all that the others "
            "leave)", .min = 0, .max = MOST, OPT_IN(ORDER)),
    OPT_INT(0, "load-ep", NULL, O, load_ep, "0", "N",
            "Data-parallel ranks that share the experts at the load (0: as saved)", .min = 0,
            .max = MOST, OPT_IN(ORDER)),
    OPT_SIZE(0, "sieve", NULL, O, sieve, "64k", "SIZE",
             "Largest gap that is read with the pieces around it when the shape differs, bytes",
             .min = 0, .max = INT64_C(1) << 40, OPT_IN(ORDER)),
    OPT_STR(0, "read-back", NULL, O, read_back, "same", "WHO",
            "Rank that loads: the one that saved (same), or one of the next node (elsewhere)",
            .choices = who_words, OPT_IN(ORDER)),
    OPT_FLAG(0, "broadcast", NULL, O, broadcast,
             "Data that several data-parallel ranks need are read by the first and sent to the "
             "others; else each reads them", OPT_IN(ORDER)),
    OPT_RUN(drop_cache, 0, "drop-cache", "dropCache", .def = "1",
            .help = "Cold page cache before each load, untimed (0: no)"),
    OPT_RUN(depth, 0, "depth", NULL),
    { .type = WEIR_OPT_GONE, .name = "existing", .key = "existing",
      .help = "a checkpoint never takes the place of another one; --keep says how many stay" },
    OPT_RUN_NO_SWEEP, OPT_RUN_NO_RATE,
    OPT_END
};
