#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""library.py - a benchmark from Python, through libweir and ctypes alone

    mpirun -np 2 python3 library.py /scratch/directory
"""
import ctypes as c
import os
import sys


class Calls(c.Structure):
    """Times of single calls, seconds."""
    _fields_ = [("n", c.c_uint64)] + [(k, c.c_double) for k in ("mean", "p50", "p90", "p99", "p999", "max")]


class Result(c.Structure):
    """struct weir_result"""
    _fields_ = ([("size", c.c_uint64), ("operation", c.c_char * 64)] +
                [(k, c.c_int) for k in ("test", "repetition", "tasks", "interrupted")] +
                [(k, c.c_uint64) for k in ("bytes", "operations", "operations_min", "operations_max", "wrong")] +
                [(k, c.c_double) for k in ("seconds", "work_seconds", "bytes_per_s", "operations_per_s")] +
                [("stonewalled", c.c_int), ("reserved", c.c_int), ("stonewall_seconds", c.c_double)] +
                [("stonewall_" + k, c.c_uint64) for k in ("bytes", "operations", "operations_min", "operations_max")] +
                [(k + "_time", Calls) for k in ("operation", "open", "transfer", "sync", "close")])


EACH = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Result))


def load():
    """The library; its functions with their types. MPI is loaded with it."""
    weir = c.CDLL(os.environ.get("LIBWEIR", "libweir.so.0"), mode=c.RTLD_GLOBAL)
    weir.weir_job_new.restype = c.c_void_p
    weir.weir_job_new.argtypes = [c.c_char_p, c.c_void_p]
    weir.weir_job_set.argtypes = [c.c_void_p, c.c_char_p, c.c_char_p]
    weir.weir_job_result.restype = c.POINTER(Result)
    weir.weir_job_result.argtypes = [c.c_void_p, c.c_int]
    weir.weir_job_watch.argtypes = [c.c_void_p, EACH, c.c_void_p, c.c_void_p]
    for name in ("weir_job_run", "weir_job_results", "weir_job_free", "weir_job_error", "weir_job_verdict"):
        getattr(weir, name).argtypes = [c.c_void_p]
    for name in ("weir_job_error", "weir_job_verdict", "weir_version"):
        getattr(weir, name).restype = c.c_char_p
    return weir


def run(weir, benchmark, **options):
    """Run a benchmark on all ranks: its results, the verdict, and whether this is rank 0, where the library calls back.

    Options have the names of scripts; None is a flag."""
    job, called = weir.weir_job_new(benchmark.encode(), None), []
    watch = EACH(lambda _, result: called.append(result))
    try:
        weir.weir_job_watch(job, watch, None, None)
        for name, value in options.items():
            if weir.weir_job_set(job, name.encode(), None if value is None else str(value).encode()):
                raise ValueError(weir.weir_job_error(job).decode())
        if weir.weir_job_run(job):
            raise RuntimeError(weir.weir_job_error(job).decode())
        copies = [Result.from_buffer_copy(weir.weir_job_result(job, i).contents) for i in range(weir.weir_job_results(job))]
        return copies, weir.weir_job_verdict(job).decode(), bool(called)
    finally:
        weir.weir_job_free(job)


def main():
    weir = load()
    weir.MPI_Init(None, None)
    where = os.path.join(sys.argv[1] if len(sys.argv) > 1 else ".", "library-py")
    results, verdict, is_root = run(weir, "ior", testFile=where, transferSize="64k", blockSize="1m", writeFile=None, readFile=None)
    lines = ["%s: %d bytes by %d tasks in %.6f s, longest transfer %.6f s" %
             (r.operation.decode(), r.bytes, r.tasks, r.seconds, r.transfer_time.max) for r in results]
    try:
        run(weir, "ior", blockSize="3 sheep")
    except ValueError as error:
        lines.append("refused: %s" % error)
    lines.append("weir %s says %s" % (weir.weir_version().decode(), verdict))
    if is_root:  # all ranks have the results
        print("\n".join(lines))
    weir.MPI_Finalize()


if __name__ == "__main__":
    main()
