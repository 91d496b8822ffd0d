/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign.c - options and backends of other benchmarks, and what weir has for them
 *
 * The tables of doc/guide/coming-from.md are these rows (testing/system/test_help.py). */
#include "base/options/help.h"

#include <string.h>
#include <strings.h>

static const struct weir_foreign rows[] = {
    { "elbencho", "--block", "ior -t SIZE", "bytes of one I/O call" },
    { "elbencho", "--blockvarpct", "ior -l random:compress=X,dedupe=Y",
      "data with a chosen fraction of zeros and of repeated blocks" },
    { "elbencho", "--csvfile", "ior --report=csv:FILE", "results as CSV" },
    { "elbencho", "--cufile", "ior --gpuDirect", "transfers between files and a GPU" },
    { "elbencho", "--direct", "ior --posix.odirect", "no page cache (O_DIRECT)" },
    { "elbencho", "--dirs", "mdtest -n N", "items of each task" },
    { "elbencho", "--dropcache", "ior --drop-cache", "cold page cache before each read phase" },
    { "elbencho", "--files", "mdtest -n N", "items of each task" },
    { "elbencho", "--gpuids", "ior -O GPUid=N", "GPU of each task" },
    { "elbencho", "--hosts", "mpirun --host LIST", "the launcher starts tasks on the hosts" },
    { "elbencho", "--iodepth", "ior -a AIO --depth=N", "queue depth of a task" },
    { "elbencho", "--iterations", "ior -i N", "repetitions" },
    { "elbencho", "--jsonfile", "ior --report=json:FILE", "results as JSON" },
    { "elbencho", "--lat", "ior --report=json:FILE", "latencies of operations, in JSON" },
    { "elbencho", "--latpercent", "ior --report=json:FILE", "latency percentiles, in JSON" },
    { "elbencho", "--limitread", "ior --rate=SIZE", "bytes a second of each task" },
    { "elbencho", "--limitwrite", "ior --rate=SIZE", "bytes a second of each task" },
    { "elbencho", "--livecsv", "ior --interval=SECONDS", "rates over time" },
    { "elbencho", "--rand", "ior -z", "random offsets" },
    { "elbencho", "--rwmixpct", "ior --mix=read:N,write:M", "reads and writes mixed" },
    { "elbencho", "--s3endpoints", "ior -a S3 --s3.endpoints=URL", "service of objects" },
    { "elbencho", "--size", "ior -b SIZE", "bytes of each task" },
    { "elbencho", "--stat", "mdtest -T", "stat phase" },
    { "elbencho", "--sync", "ior -e", "flush at the end of the write phase" },
    { "elbencho", "--threads", "mpirun -np N", "tasks" },
    { "elbencho", "--timelimit", "ior -D SECONDS", "end of a phase after a time" },
    { "elbencho", "--verify", "ior -R", "check of every byte that is read" },

    { "fio", "--blocksize", "ior -t SIZE", "bytes of one I/O call" },
    { "fio", "--bs", "ior -t SIZE", "bytes of one I/O call" },
    { "fio", "--buffer_compress_percentage", "ior -l random:compress=X",
      "data that compress to 1/X; N percent are X = 100/(100-N)" },
    { "fio", "--dedupe_percentage", "ior -l random:dedupe=Y",
      "blocks of which 1/Y differ; N percent are Y = 100/(100-N)" },
    { "fio", "--direct", "ior --posix.odirect", "no page cache (O_DIRECT)" },
    { "fio", "--directory", "ior -F -o DIR/NAME", "a file for each task" },
    { "fio", "--end_fsync", "ior -e", "flush at the end of the write phase" },
    { "fio", "--filename", "ior -o PATH", "the test file" },
    { "fio", "--filesize", "ior -b SIZE", "bytes of each task" },
    { "fio", "--hipri", "ior -a URING --uring.iopoll", "polling of the device" },
    { "fio", "--invalidate", "ior --drop-cache", "cold page cache before each read phase" },
    { "fio", "--iodepth", "ior -a AIO --depth=N", "queue depth of a task" },
    { "fio", "--ioengine", "ior -a NAME", "backend: POSIX, AIO (libaio), URING (io_uring), MMAP" },
    { "fio", "--loops", "ior -i N", "repetitions" },
    { "fio", "--norandommap", "ior -z -z", "random blocks, with repetition" },
    { "fio", "--numjobs", "mpirun -np N", "tasks" },
    { "fio", "--output-format", "ior --report=json:FILE", "results as JSON" },
    { "fio", "--randseed", "ior -z --random-offset-seed=N", "seed of the random order" },
    { "fio", "--rate_iops", "ior --rate=Nops", "operations a second of each task" },
    { "fio", "--rate_process", "ior --arrivals=poisson", "random arrivals" },
    { "fio", "--readwrite", "ior -w -r -z --mix=read:N,write:M", "phases and order" },
    { "fio", "--runtime", "ior -D SECONDS", "end of a phase after a time" },
    { "fio", "--rw", "ior -w -r -z --mix=read:N,write:M", "phases and order" },
    { "fio", "--rwmixread", "ior --mix=read:N,write:M", "reads and writes mixed" },
    { "fio", "--size", "ior -b SIZE", "bytes of each task" },
    { "fio", "--sqthread_poll", "ior -a URING --uring.sqpoll",
      "polling of the queue by the kernel" },
    { "fio", "--ss", "ior --until=steady", "end when the rate is steady" },
    { "fio", "--ss_dur", "ior --until=steady", "end when the rate is steady" },
    { "fio", "--thinktime", "ior --burst=1:SECONDS", "pause after each transfer" },
    { "fio", "--thinktime_blocks", "ior --burst=N:SECONDS", "pause after N transfers" },
    { "fio", "--time_based", "ior -O minTimeDuration=SECONDS", "pattern repeated for a time" },
    { "fio", "--verify", "ior -R", "check of every byte that is read" },
    { "fio", "--write_bw_log", "ior --interval=SECONDS", "rates over time" },
    { "fio", "--write_lat_log", "ior --timeline=FILE.npy", "every operation" },

    { "md-workbench", "--", "md-workbench -o DIR", "directory of the data sets: -D DIR after --" },
    { "md-workbench", "-i", "md-workbench -a NAME", "backend" },
    { .name = NULL },
};

/* Values of -a. Rows with one name are ways to choose from. */
static const struct weir_foreign backends[] = {
    { "IOR", "CEPHFS", "-a POSIX", "on a mount of CephFS, by the kernel or ceph-fuse" },
    { "IOR", "CHFS", "-a POSIX", "on a mount by chfuse" },
    { "IOR", "DAOS", "-a POSIX", "on a mount by dfuse; --help=DFS has other ways" },
    { "IOR", "DFS", "-a POSIX", "on a mount by dfuse, with or without its caches" },
    { "IOR", "DFS", "LD_PRELOAD=libpil4dfs.so -a POSIX",
      "on that mount, but past the kernel; libioil.so for reads and writes only" },
    { "IOR", "DFS", "-a MPIIO -o daos:PATH", "with a ROMIO that has the DAOS driver" },
    { "IOR", "DFS", "HDF5_VOL_CONNECTOR=daos -a HDF5", "with the DAOS connector of HDF5" },
    { "IOR", "FINCHFS", "-a POSIX", "on a mount, where there is one" },
    { "IOR", "Gfarm", "-a POSIX", "on a mount by gfarm2fs" },
    { "IOR", "HDFS", "-a POSIX", "on a mount by its NFS gateway or by fuse-dfs" },
    { "IOR", "IME", "-a POSIX", "on its FUSE mount" },
    { "IOR", "LIBNFS", "-a POSIX", "on a mount of NFS; nconnect=N: N connections" },
    { "IOR", "PMDK", "-a MMAP", "on ext4 or xfs mounted with dax" },
    { "IOR", "RADOS", "-a S3 --s3.endpoints=URL", "with the RADOS Gateway" },
    { "IOR", "S3-4c", "-a S3 --s3.endpoints=URL", "objects of a service" },
    { "IOR", "S3-curl", "-a S3 --s3.endpoints=URL", "objects of a service" },
    { "IOR", "S3-libs3", "-a S3 --s3.endpoints=URL", "objects of a service" },
    { "IOR", "S3_EMC", "-a S3 --s3.endpoints=URL", "objects of a service" },
    { "IOR", "S3_plus", "-a S3 --s3.endpoints=URL", "objects of a service" },
    { "fio", "gfapi", "-a POSIX", "on a mount of GlusterFS" },
    { "fio", "io_uring", "-a URING --depth=N", "queue by io_uring" },
    { "fio", "libaio", "-a AIO --depth=N", "queue by libaio" },
    { "fio", "psync", "-a POSIX", "pread and pwrite" },
    { .name = NULL },
};

const struct weir_foreign *weir_foreign_next(const struct weir_foreign *at, const char *name,
                                             bool backend)
{
    for (at = at ? at + 1 : backend ? backends : rows; at->name; at++)
        if (strcasecmp(at->name + strspn(at->name, "-"), name) == 0 ||
            (!backend && strcasecmp(at->of, name) == 0))
            return at;
    return NULL;
}
