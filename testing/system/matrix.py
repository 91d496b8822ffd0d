# SPDX-License-Identifier: BSD-3-Clause
"""Ways to do the same work through a library: every combination that test_matrix.py runs and checks byte by byte, or that must
be refused. doc/guide/backends.md has the table that matrix_table.py makes of it."""
import collections
import itertools

TRANSFER = 8192
BLOCK = 6 * TRANSFER
SEGMENTS = 4
SIGNATURE = 7
SEED = 5
DELAY_US = 60000  # after each transfer, so that a task needs longer than the deadline
DEADLINE_S = 1

VARIANTS = {
    "MPIIO": {
        "explicit offsets": "mpiio.useFileView=0 mpiio.useStridedDatatype=0",
        "file view": "mpiio.useFileView=1 mpiio.useStridedDatatype=0",
        "strided view": "mpiio.useFileView=1 mpiio.useStridedDatatype=1",
    },
    "HDF5": {
        "contiguous": "hdf5.chunkSize=0 hdf5.setAlignment=1",
        "chunked": "hdf5.chunkSize=3000 hdf5.setAlignment=1",
        "aligned": "hdf5.chunkSize=0 hdf5.setAlignment=32k",
        "filtered": "hdf5.chunkSize=3000 hdf5.setAlignment=1 hdf5.filter=shuffle+deflate:1",
    },
    "NCMPI": {"CDF-5": "ncmpi.showHints=0"},
    "AIO": {"queue": "aio.max-pending=8 aio.granularity=4"},
    "MMAP": {"mapped": "mmap.madv_pattern=1"},
}
ACCESS = ["independent", "collective"]
FILES = ["shared file", "file per process"]
ENDINGS = ["complete", "stonewall", "wear-out"]
WORK = ["even", "uneven"]

Case = collections.namedtuple("Case", "backend variant access files ending work")


def refusal(row):
    """Why a backend cannot do it, None when it can. row: backend, variant, access, files."""
    if row[0] == "NCMPI" and row[3] == "file per process":
        return "file-per-proc not available in current NCMPI"
    if row[1] == "filtered" and row[2:4] == ("independent", "shared file"):
        return "HDF5 writes chunks with filters collectively only"
    return None


def rows():
    """(backend, variant, access, files) in the order of the table."""
    out = []
    for backend, variants in VARIANTS.items():
        for variant, files, access in itertools.product(variants, FILES, ACCESS):
            if backend not in ("AIO", "MMAP") or access == "independent":
                out.append((backend, variant, access, files))
    return out


def cases():
    return [Case(*row, ending, work) for row in rows() if not refusal(row) for work in WORK for ending in ENDINGS]


def is_distributed(case):
    """Uneven work is a slow task everywhere; where offsets may be random, the tasks have different numbers of transfers, too."""
    return case.work == "uneven" and case.access == "independent" and case.variant in ("explicit offsets", "queue", "mapped")


def name(case):
    return "-".join(case).replace(" ", "_")


def script(some):
    """The lines of an IOR script that runs these cases, each in files of its name."""
    lines = ["IOR START"]
    for case in some:
        lines += [
            "api=" + case.backend, "testFile=./" + name(case),
            "transferSize=%d" % TRANSFER, "blockSize=%d" % BLOCK, "segmentCount=%d" % SEGMENTS,
            "setTimeStampSignature=%d" % SIGNATURE, "dataPacketType=offset",
            "writeFile=1", "checkRead=1", "keepFile=1",
            "collective=%d" % (case.access == "collective"),
            "filePerProc=%d" % (case.files == "file per process"),
            "randomOffset=%d" % is_distributed(case), "random-offset-seed=%d" % SEED, "random-offset-deal=original",
            "deadlineForStonewalling=%d" % (0 if case.ending == "complete" else DEADLINE_S),
            "stoneWallingWearOut=%d" % (case.ending == "wear-out"),
            "interIODelay=%d" % (0 if case.ending == "complete" else DELAY_US),
        ]
        lines += VARIANTS[case.backend][case.variant].split()
        lines.append("RUN")
    return "\n".join(lines + ["IOR STOP", ""])
