/* SPDX-License-Identifier: BSD-3-Clause */
/* mc-options.c - the options of model_checkpoint */
#include "config.h"
#include "programs/model_checkpoint/mc.h"

#define O struct mc_options
#define MOST 100000000

static const char *const save_words[] = { "sync", "async", "no", NULL };
static const char *const load_words[] = { "all", "parameters", "no", NULL };
static const char *const who_words[] = { "same", "elsewhere", NULL };

const struct weir_opt mc_opts[] = {
    OPT_RUN(api, 'a', "api", NULL, .help = "Backend that moves the data; POSIX without it"),
    OPT_STR('o', "path", NULL, O, path, "model_checkpoints", "DIR",
            "Directory of the checkpoints, made where it is not there; with -a S3 s3://BUCKET/PREFIX",
            .flags = WEIR_OPT_APART | WEIR_OPT_PRIVATE | WEIR_OPT_PLACE, OPT_FIRST(FILES)),
    OPT_STR(0, "model", NULL, O, model, "llama3-8b", "NAME|FILE", "Model, or file of lines 'key = value'",
            .suggestions = mc_model_names, .flags = WEIR_OPT_PRIVATE, OPT_FIRST(DATA)),
    OPT_STR(0, "scale", NULL, O, scale, "1", "SHARE", "Make the model smaller: a share of its parameters",
            .example = "1/1000", OPT_FIRST(DATA)),
    OPT_INT(0, "tp", NULL, O, tp, "1", "N", "Tensor-parallel ranks", .min = 1, .max = MOST, OPT_FIRST(DATA)),
    OPT_INT(0, "pp", NULL, O, pp, "1", "N", "Stages of the pipeline", .min = 1, .max = MOST, OPT_FIRST(DATA)),
    OPT_INT(0, "dp", NULL, O, dp, "0", "N", "Data-parallel ranks; 0: what tp and pp leave of the ranks", .min = 0, .max = MOST,
            OPT_IN(DATA)),
    OPT_INT(0, "ep", NULL, O, ep, "1", "N", "Data-parallel ranks over which the experts of a layer are divided", .min = 1,
            .max = MOST, OPT_IN(DATA)),
    OPT_INT(0, "zero", NULL, O, zero, "0", "STAGE",
            "Divide over the data-parallel ranks the state of the optimizer (1, 2), and the parameters (3)", .min = 0, .max = 3,
            OPT_IN(DATA)),
    OPT_STR(0, "dtype", NULL, O, dtype, "bf16", "TYPE", "Elements of the parameters", .choices = mc_dtype_names, OPT_IN(DATA)),
    OPT_STR(0, "optimizer", NULL, O, optimizer, "adam", "NAME",
            "Optimizer, whose state is saved with the parameters; none: parameters only",
            .choices = mc_optimizer_names, OPT_IN(DATA)),
    OPT_STR(0, "layout", NULL, O, layout, "torch", "NAME",
            "Files of a checkpoint: one a rank (torch), one for each tensor-parallel part of each stage (megatron), "
            "parameters so and the optimizer one a rank (deepspeed), one for all (shared), one of arrays "
             "of HDF5, NETCDF or NCMPI (arrays)",
            .choices = mc_layout_names, OPT_IN(FILES)),
    OPT_SIZE(0, "align", NULL, O, align, "4k", "SIZE",
             "Tensors begin at multiples of SIZE in their file, and transfers have such places and lengths",
             .min = 1, .max = INT64_C(1) << 30, OPT_IN(FILES)),
    OPT_SIZE('t', "transfer-size", NULL, O, transfer, "16m", "SIZE", "Bytes of a transfer at most", .min = 1,
             .max = INT64_C(1) << 31, OPT_IN(ORDER)),
    OPT_FLAG(0, "list", NULL, O, list, "Show what each rank would write (-v: each tensor)", .flags = WEIR_OPT_APART,
             OPT_FIRST(OUTPUT)),
    OPT_STR(0, "save", NULL, O, save, "sync", "HOW",
            "Save while training waits (sync), or copy to memory first and write while it goes on (async), or only load (no)",
            .choices = save_words, OPT_FIRST(ORDER)),
    OPT_REAL(0, "compute", NULL, O, compute_s, "0", "SECONDS",
             "Emulated work of a training step, on accelerators: it takes no processor time, and goes on while an "
             "asynchronous save is written",
             .min = 0, .max = INT32_MAX,
             OPT_IN(ORDER)),
    OPT_INT(0, "every", NULL, O, every, "1", "N", "Training steps from one checkpoint to the next", .min = 1, .max = MOST,
            OPT_IN(ORDER)),
    OPT_INT(0, "keep", NULL, O, keep, "2", "N",
            "After each save remove all but the newest N checkpoints, inside the measured cycle; 0: all stay", .min = 0,
                .max = MOST, OPT_IN(FILES)),
    OPT_FLAG(0, "remove", NULL, O, remove, "Remove the checkpoints of this run at its end", .flags = WEIR_OPT_APART, OPT_IN(FILES)),
    OPT_STR(0, "load", NULL, O, load, "all", "WHAT", "Load the newest checkpoint: all of it, the parameters, or nothing (no)",
            .choices = load_words, OPT_IN(ORDER)),
    OPT_INT(0, "load-tp", NULL, O, load_tp, "0", "N", "Tensor-parallel ranks that load; 0: as saved", .min = 0, .max = MOST,
            OPT_IN(ORDER)),
    OPT_INT(0, "load-pp", NULL, O, load_pp, "0", "N", "Stages of the pipeline that load; 0: as saved", .min = 0, .max = MOST,
            OPT_IN(ORDER)),
    OPT_INT(0, "load-dp", NULL, O, load_dp, "0", "N",
            "Data-parallel ranks that load, further ranks do nothing; 0: what the others leave of the ranks", .min = 0,
                .max = MOST, OPT_IN(ORDER)),
    OPT_INT(0, "load-ep", NULL, O, load_ep, "0", "N",
            "Data-parallel ranks over which the experts are divided that load; 0: as saved", .min = 0,
            .max = MOST, OPT_IN(ORDER)),
    OPT_SIZE(0, "sieve", NULL, O, sieve, "64k", "SIZE",
             "Loading another shape, read gaps of SIZE at most together with the pieces around them", .min = 0, .max = INT64_C(1) << 40,
             OPT_IN(ORDER)),
    OPT_STR(0, "read-back", NULL, O, read_back, "same", "WHO",
            "elsewhere: a rank of the next node loads what a rank has saved", .choices = who_words, OPT_IN(ORDER)),
    OPT_FLAG(0, "broadcast", NULL, O, broadcast,
             "What several data-parallel ranks need is read by the first, which sends it to the others; without it each "
             "reads it",
             OPT_IN(ORDER)),
    OPT_RUN(drop_cache, 0, "drop-cache", "dropCache", .def = "1",
            .help = "Before each load write the files back and drop them from the page cache of their nodes, outside the "
                    "measured time; =0: load what may be in memory"),
    OPT_RUN(depth, 0, "depth", NULL),
    { .type = WEIR_OPT_GONE, .name = "existing", .key = "existing",
      .help = "a checkpoint never takes the place of another one; --keep says how many stay" },
    OPT_RUN_NO_SWEEP, OPT_RUN_NO_RATE,
    OPT_END
};
