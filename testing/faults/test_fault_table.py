# SPDX-License-Identifier: BSD-3-Clause
"""Faults below the program, one case after the other: the line, the status, the time, and what is left on disk."""
import csv
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

import conftest
from batches import batched, batches, check_ends, run  # noqa: F401
from faults_support import SECONDS, backend_of, check_time, environment, is_stopped

HOST = socket.gethostname()
WORK = "-w -r -b 64k -t 16k "  # 2 ranks: 4 transfers each; rank 1 begins at byte 65536
DATA = 2 * 65536
ALL = ["write", "read"]
RANK1 = "rank 1 on %s: " % HOST

CASES = []


def case(name, args, fault="", status=3, words=(), left=(), rows=None, np=2, many=False, **how):
    """args after WORK; words: all in the ERROR line; left: files after the run; rows: results shown; many: each rank may tell; how: as
    Planned."""
    CASES.append(pytest.param(dict(name=name, args=args, fault=fault, status=status, words=words, left=list(left), rows=rows, np=np,
                                   many=many, how=how), id=name.replace(" ", "-")))


def fails(name, args, fault, *words, **more):
    case(name, args, fault, words=(RANK1, "'testFile'") + words if "words" not in more else more.pop("words"), **more)


def romio(name, args, fault, *words, **more):
    fails(name, args, fault, *words, io="romio321", **more)


def hangs(name, args, fault, *words, **more):
    """Only --io-timeout ends it, and the job with it; nobody is left to remove the file."""
    case(name, args + " --io-timeout=2", fault, alone=True, words=("'testFile'", "has not returned for ", "(--io-timeout)") + words,
         left=more.pop("left", ["testFile"]), **more)


# ---- POSIX: errors by errno ----

fails("POSIX write EIO", "", "call=write rank=1 count=3 errno=EIO", "write 16384 bytes at offset 98304", "Input/output error", rows=[])
fails("POSIX write ENOSPC", "", "call=write rank=1 count=3 errno=ENOSPC", "offset 98304", "No space left on device", rows=[])
fails("POSIX write EDQUOT", "-g", "call=write rank=1 errno=EDQUOT", "offset 65536", "Disk quota exceeded", rows=[])
fails("POSIX write EFBIG", "-z", "call=write rank=1 count=4 errno=EFBIG", "write 16384 bytes at offset", "File too large", rows=[])
fails("POSIX write ESTALE after a short one", "", "call=write rank=1 short=4096;call=write rank=1 count=2 errno=ESTALE",
      "offset 65536", "4096", "Stale file handle", rows=[])
fails("POSIX create EROFS", "", "call=open rank=1 errno=EROFS", "create", "Read-only file system", rows=[])
fails("POSIX create EACCES", "", "call=open rank=1 errno=EACCES", "create", "Permission denied", rows=[])
fails("POSIX create EMFILE on all", "", "call=open errno=EMFILE", words=("rank 0 on " + HOST, "'testFile'", "Too many open files",
                                                                        "(and 1 more rank failed)"))
fails("POSIX open to read ESTALE", "", "call=open rank=1 count=2 errno=ESTALE", "open", "Stale file handle", rows=["write"])
fails("POSIX read EIO", "", "call=read rank=1 count=2 errno=EIO", "read 16384 bytes at offset 81920", "Input/output error", rows=["write"])
fails("POSIX read ESTALE on another's file", "-F -C", "call=read rank=1 errno=ESTALE",
      words=(RANK1, "offset 0 of 'testFile.00000000'", "Stale"), rows=["write"])
fails("POSIX fsync EIO", "-e", "call=fsync rank=1 errno=EIO", "fsync", "Input/output error", rows=[])
fails("POSIX fsync EDQUOT in the second write", "-Y", "call=sync rank=1 count=2 errno=EDQUOT", "fsync", "Disk quota", rows=[])
fails("POSIX close EIO", "", "call=close rank=1 errno=EIO", "close", "Input/output error", rows=[])
fails("POSIX close ENOSPC after reading", "", "call=close rank=1 count=2 errno=ENOSPC", "close", "No space", rows=["write"])
fails("POSIX unlink EACCES", "", "call=unlink rank=0 errno=EACCES", words=("rank 0", "remove 'testFile'", "Permission denied"),
      left=["testFile"], rows=ALL)
fails("POSIX file per process", "-F", "call=write rank=1 count=3 errno=EIO",
      words=(RANK1, "offset 32768 of 'testFile.00000001'", "Input/output error"))
fails("POSIX directory per process", "-F -u", "call=write rank=1 count=3 errno=EIO", words=(RANK1, "'1/testFile.00000001'"))
fails("POSIX write EIO on all", "", "call=write errno=EIO", words=("rank 0 on", "offset 0 of 'testFile'", "(and 1 more rank failed)"))
fails("POSIX write EIO keeps with -k", "-k", "call=write rank=1 count=3 errno=EIO", "offset 98304", left=["testFile"])
fails("POSIX write EIO in repetition 2", "-i 3", "call=write rank=1 count=6 errno=EIO", "offset 81920", rows=ALL)
fails("POSIX write EIO under a stonewall", "-D 60 -O stoneWallingWearOut=1", "call=write rank=1 count=3 errno=EIO", "offset 98304", rows=[])
fails("POSIX read EIO while checking", "-W", "call=read rank=1 count=2 errno=EIO", "read 16384 bytes at offset 81920", rows=["write"])

# ---- POSIX: what is no error ----

case("POSIX short writes and reads go on", "-W -R", "call=write rank=1 times=0 short=5000;call=read times=0 short=7001", 0, rows=ALL)
case("POSIX one byte at a time", "-W -t 64 -b 64", "call=write rank=1 times=0 short=1", 0, rows=["write", "read"])
fails("POSIX short write with -x", "-x", "call=write rank=1 count=2 short", "offset 81920", "8192 done", "short transfer", rows=[])
fails("POSIX short read with -x", "-x", "call=read rank=1 count=3 short=1", "offset 98304", "1 done", "short transfer", rows=["write"])
case("POSIX EINTR everywhere", "-e -R", "call=open eintr;call=write count=2 times=3 eintr;call=read eintr;call=sync eintr", 0, rows=ALL)
case("POSIX EAGAIN in writes", "", "call=write rank=1 times=50 errno=EAGAIN", 0, rows=ALL)

# ---- POSIX: silent damage ----

case("POSIX flip in a write, -R", "-R", "call=write rank=1 count=3 flip", 4, ("bit flip", RANK1, "byte 106496", "'testFile'"), rows=ALL)
case("POSIX flip in a write, -W", "-W", "call=write rank=0 flip", 4, ("bit flip", "byte 8192"), rows=ALL)
case("POSIX flip in a write, -W -K", "-W -K", "call=write rank=0 flip", 4, ("bit flip",), ["testFile"], rows=ALL)
case("POSIX flip in a read", "-R -l random", "call=read rank=1 count=2 flip", 4, (RANK1, "byte 90112"), rows=ALL)
case("POSIX flip, signatures", "-R -l signature", "call=write rank=1 count=2 flip", 4, (RANK1, "bit flip"), rows=ALL)
case("POSIX lost write", "-R", "call=write rank=1 count=2 drop", 4, ("zeros", "byte 81920"), rows=ALL)
case("POSIX flip without verification", "", "call=write rank=1 count=2 flip", 0, rows=ALL)

# ---- POSIX: calls that do not return ----

hangs("POSIX hang in write", "", "call=write rank=1 count=3 hang", RANK1 + "write of 16384 bytes at offset 98304")
hangs("POSIX hang in create", "", "call=open rank=1 hang", RANK1 + "open of")
hangs("POSIX hang in read", "-z", "call=read rank=1 count=2 hang", RANK1 + "read of 16384 bytes at offset", rows=["write"])
hangs("POSIX hang in fsync", "-Y", "call=sync rank=0 hang", "rank 0 on %s: sync of" % HOST)
hangs("POSIX hang in close", "", "call=close rank=1 hang", RANK1 + "close of")
hangs("POSIX hang in unlink", "", "call=unlink hang", "rank 0 on %s: unlink of" % HOST, rows=ALL)
case("POSIX delay below the limit", "--io-timeout=15", "call=write rank=1 times=2 delay=700", 0, rows=ALL)

# ---- MPI-IO: return codes lie, the line does not ----

fails("MPIIO write ENOSPC", "-a MPIIO", "call=write rank=1 count=3 errno=ENOSPC", "offset 98304", "No space left on device", rows=[])
fails("MPIIO write EIO through a view", "-a MPIIO --mpiio.useFileView", "call=write rank=1 count=2 errno=EIO", "offset 81920",
      "Input/output error", rows=[])
fails("MPIIO file per process", "-a MPIIO -F", "call=write rank=1 count=2 errno=EIO",
      words=(RANK1, "offset 16384 of 'testFile.00000001'", "Input/output error"))
fails("MPIIO collective write ENOSPC on all", "-a MPIIO -c", "call=write times=0 errno=ENOSPC",
      words=("rank 0 on", "'testFile'", "No space left on device"), rows=[])
fails("MPIIO collective write EIO on one", "-a MPIIO -c", "call=write rank=1 times=0 errno=EIO", "offset 65536", "Input/output error")
fails("MPIIO read ESTALE", "-a MPIIO", "call=read rank=1 count=2 errno=ESTALE", "offset 81920", "Stale file handle", rows=["write"])
fails("MPIIO open EACCES", "-a MPIIO", "call=open rank=0 errno=EACCES", words=("'testFile'", "MPI_File_open", "access"))
fails("MPIIO sync EIO", "-a MPIIO -e", "call=sync rank=1 errno=EIO", "MPI_File_sync", "Input/output error", rows=[])
fails("MPIIO close EIO", "-a MPIIO", "call=close rank=1 errno=EIO", "MPI_File_close", "Input/output error", rows=[])
case("MPIIO short writes go on", "-a MPIIO -R", "call=write rank=1 count=2 short", 0, rows=ALL)
fails("MPIIO short write with -x", "-a MPIIO -x", "call=write rank=1 count=2 short", "offset 81920", "short transfer", rows=[])
case("MPIIO EINTR", "-a MPIIO -R", "call=write rank=1 count=2 eintr;call=read rank=1 count=2 eintr", 0, rows=ALL)
case("MPIIO flip in a write", "-a MPIIO -R", "call=write rank=1 count=2 flip", 4, ("bit flip", RANK1), rows=ALL)
case("MPIIO flip in a collective write", "-a MPIIO -c -W", "call=write rank=1 count=2 flip", 4, ("bit flip",), rows=ALL)
hangs("MPIIO hang in write", "-a MPIIO", "call=write rank=1 count=2 hang", RANK1 + "write of 16384 bytes at offset 81920")
hangs("MPIIO hang in a collective write", "-a MPIIO -c", "call=write rank=0 hang", ": write of 16384 bytes at offset", many=True)
hangs("MPIIO open EMFILE on one hangs the library", "-a MPIIO", "call=open rank=1 errno=EMFILE", ": open of", many=True)

# ---- MPI-IO in flight: the library says only that nothing was moved, and a blocking call says why ----

fails("MPIIO queue write ENOSPC", "-a MPIIO --depth=3", "call=write rank=1 count=3 times=0 errno=ENOSPC", "write 16384 bytes at offset 98304",
      "MPI_File_iwrite_at: ", "No space left on device", rows=[])
fails("MPIIO queue write EIO once", "-a MPIIO --depth=3 -F", "call=write rank=1 count=3 errno=EIO",
      words=(RANK1, "offset 32768 of 'testFile.00000001'", "MPI_File_iwrite_at moved no data"))
fails("MPIIO queue collective write EDQUOT on one", "-a MPIIO -c --depth=3", "call=write rank=1 count=2 times=0 errno=EDQUOT", "offset 81920",
      "MPI_File_iwrite_at_all", "Disk quota exceeded", rows=[])
fails("MPIIO queue collective write EIO on all, under a stonewall", "-a MPIIO -c --depth=3 -s 9 -D 60 -O stoneWallingWearOut=1",
      "call=write count=20 times=0 errno=EIO", words=("rank 0 on", "'testFile'", "Input/output error", "(and 1 more rank failed)"), rows=[])
fails("MPIIO queue collective read ESTALE through a view", "-a MPIIO -c --depth=3 --mpiio.useFileView",
      "call=read rank=1 count=2 times=0 errno=ESTALE", "read 16384 bytes at offset 81920", "Stale file handle", rows=["write"])
case("MPIIO queue short transfers go on", "-a MPIIO -c --depth=3 -R", "call=write rank=1 count=2 short;call=read rank=1 count=2 short=1", 0, rows=ALL)
case("MPIIO queue lost write", "-a MPIIO --depth=3 -W", "call=write rank=1 count=2 drop", 4, ("zeros", "byte 81920"), rows=ALL)
hangs("MPIIO queue collective write that never ends", "-a MPIIO -c --depth=3", "call=write rank=0 count=2 hang",
      "rank 0 on %s: write of 16384 bytes at offset 16384" % HOST, many=True)
fails("MPIIO queue write that never ends because it has failed", "-a MPIIO --depth=3", "call=aio_write rank=1 count=2 times=0 hang;call=pwrite rank=1 times=0 errno=ENOSPC",
      "write 16384 bytes at offset 81920", "No space left on device", rows=[], alone=True)
case("MPIIO queue collective under ROMIO", "-a MPIIO -c --depth=3", "", 1, ("--depth=3 with -c", "ROMIO", "OMPIO"), rows=[],
     io="romio321")
romio("MPIIO queue ROMIO write ENOSPC", "-a MPIIO --depth=3", "call=write rank=1 count=2 times=0 errno=ENOSPC", "MPI_File_iwrite_at",
      "No space left on device", rows=[])

# ---- HDF5 ----

fails("HDF5 write ENOSPC", "-a HDF5", "call=write rank=1 count=3 errno=ENOSPC", "H5Dwrite", "No space left on device", rows=[])
fails("HDF5 collective write EDQUOT", "-a HDF5 -c", "call=write rank=1 count=2 errno=EDQUOT", "H5Dwrite", "Disk quota exceeded")
fails("HDF5 collective write EIO on all", "-a HDF5 -c", "call=write count=3 times=0 errno=EIO", words=("rank 0 on", "'testFile'",
                                                                                                      "Input/output error"))
fails("HDF5 chunk with a filter cannot be made", "-a HDF5 -c --hdf5.chunkSize=2048 --hdf5.filter=deflate", "call=write rank=1 errno=EIO",
      "H5Dcreate2 'testFile'", "Input/output error", rows=[])
fails("HDF5 chunk with a filter cannot be written", "-a HDF5 -c --hdf5.chunkSize=2048 --hdf5.filter=deflate", "call=write rank=1 count=3 errno=EIO",
      "H5Dwrite 'testFile'", "Input/output error", rows=[])
fails("HDF5 read EIO", "-a HDF5", "call=read rank=1 count=5 errno=EIO", "H5Dread", "Input/output error", rows=["write"])
fails("HDF5 create EACCES", "-a HDF5", "call=open rank=0 errno=EACCES", words=("H5Fcreate 'testFile'", "access"))
fails("MPIIO sync EIO after an independent write", "-a MPIIO -Y", "call=sync rank=1 count=2 errno=EIO", "fsync", "Input/output error", rows=[])
fails("HDF5 flush EIO", "-a HDF5 -e", "call=sync rank=1 errno=EIO", "H5Fflush", "Input/output error", rows=[])
fails("HDF5 close EIO", "-a HDF5", "call=close rank=1 errno=EIO", "H5Fclose", "Input/output error", rows=[])
fails("HDF5 takes a short write for an error", "-a HDF5", "call=write rank=1 count=3 short", "H5Dwrite", rows=[])
case("HDF5 EINTR", "-a HDF5 -R", "call=write rank=1 count=3 eintr;call=read rank=1 count=5 eintr", 0, rows=ALL)
case("HDF5 flip in a write", "-a HDF5 -R", "call=write rank=1 count=2 flip", 4, ("bit flip", RANK1), rows=ALL)
case("HDF5 flip in a collective write", "-a HDF5 -c -W", "call=write rank=1 count=2 flip", 4, ("bit flip",), rows=ALL)
hangs("HDF5 hang in write", "-a HDF5", "call=write rank=1 count=3 hang", RANK1 + "write of 16384 bytes at offset 98304")
fails("HDF5 collective read, dataset unreadable on one", "-a HDF5 -c", "call=read rank=1 count=4 errno=EIO",
      "open dataset 'Dataset-0000.0000'", rows=["write"])
fails("HDF5 collective read EIO on one", "-a HDF5 -c", "call=read rank=1 count=5 errno=EIO", "H5Dread", "Input/output error",
      rows=["write"])

# ---- the other MPI-IO of Open MPI, which returns errors: HDF5 then leaves its ranks waiting for each other ----

for args, what in (("-a HDF5 -c", "H5Dwrite"), ("-a HDF5 -c -e", "H5Dwrite"), ("-a MPIIO -c", "MPI_File_write_at_all")):
    romio("ROMIO collective write ENOSPC %s" % args[3:], args, "call=write rank=1 count=2 times=0 errno=ENOSPC", what, "No space left on device")
romio("ROMIO collective read EIO", "-a HDF5 -c", "call=read rank=1 count=5 errno=EIO", "H5Dread", "Input/output error", rows=["write"])

# ---- NCMPI ----

fails("NCMPI write ENOSPC", "-a NCMPI", "call=write rank=1 count=3 errno=ENOSPC", "ncmpi_put_vara", "No space left on device", rows=[])
fails("NCMPI collective write ENOSPC", "-a NCMPI -c", "call=write rank=1 count=2 errno=ENOSPC", "ncmpi_put_vara", "No space left")
fails("NCMPI collective writes EDQUOT on one", "-a NCMPI -c", "call=write rank=1 times=0 errno=EDQUOT", words=("after writing up to byte", "Disk quota exceeded"))
fails("NCMPI read EIO", "-a NCMPI", "call=read rank=1 count=3 errno=EIO", "ncmpi_get_vara", "Input/output error", rows=["write"])
fails("NCMPI create EACCES", "-a NCMPI", "call=open rank=0 errno=EACCES", words=("ncmpi_create 'testFile'",))
# A close that fails under PnetCDF is found only while errno survives what MPI does next: no row for it.
case("NCMPI EINTR", "-a NCMPI -R", "call=write rank=1 count=2 eintr", 0, rows=ALL)
case("NCMPI flip in a write", "-a NCMPI -R", "call=write rank=1 count=2 flip", 4, ("bit flip", RANK1), rows=ALL)
hangs("NCMPI hang in write", "-a NCMPI", "call=write rank=1 count=3 hang", RANK1 + "write of 16384 bytes at offset 98304")
fails("HDF5 sync EIO after an independent write", "-a HDF5 -Y", "call=sync rank=1 count=2 errno=EIO", "fsync", "Input/output error", rows=[])
fails("NCMPI sync EIO after an independent write", "-a NCMPI -Y", "call=sync rank=1 count=2 errno=EIO", "fsync", "Input/output error", rows=[])
fails("NCMPI sync EIO on one", "-a NCMPI -e", "call=sync rank=1 errno=EIO", "fsync", "Input/output error", rows=[])
fails("NCMPI collective sync EIO on one", "-a NCMPI -c -Y", "call=sync rank=1 count=2 errno=EIO", "fsync", "Input/output error", rows=[])

# ---- MMAP ----

fails("MMAP allocate ENOSPC", "-a MMAP", "call=fallocate rank=1 errno=ENOSPC", "allocate the 131072 bytes", "No space left", rows=[])
fails("MMAP map ENOMEM", "-a MMAP", "call=map rank=1 errno=ENOMEM", "map 131072 bytes", "Cannot allocate memory", rows=[])
fails("MMAP create EMFILE", "-a MMAP", "call=open rank=1 errno=EMFILE", "create", "Too many open files", rows=[])
fails("MMAP msync EIO", "-a MMAP -e", "call=msync rank=1 errno=EIO", "msync 65536 bytes", "Input/output error", rows=[])
fails("MMAP close EIO", "-a MMAP", "call=close rank=1 errno=EIO", "close", "Input/output error", rows=[])
case("MMAP without fallocate", "-a MMAP -R", "call=fallocate times=0 errno=EOPNOTSUPP", 0, rows=ALL)
hangs("MMAP hang in open", "-a MMAP", "call=map rank=1 hang", RANK1 + "open of")

# ---- AIO: errors come later than the calls that they belong to; WORK is one batch ----

fails("AIO write EIO", "-a AIO", "call=write rank=1 count=3 errno=EIO", "write 16384 bytes at offset 98304", "Input/output error", rows=[])
fails("AIO write ENOSPC in a long queue", "-a AIO -s 20 --aio.max-pending=8 --aio.granularity=4",
      "call=write rank=1 count=30 errno=ENOSPC", "write 16384 bytes at offset 999424", "No space left on device", rows=[])
fails("AIO first of several errors", "-a AIO -s 20", "call=write rank=1 count=3 times=0 errno=EDQUOT", "offset 98304",
      "Disk quota exceeded", rows=[])
fails("AIO write EFBIG with random offsets", "-a AIO -z", "call=write rank=1 count=4 errno=EFBIG", "write 16384 bytes at offset",
      "File too large", rows=[])
fails("AIO write EIO under a stonewall", "-a AIO -D 60 -O stoneWallingWearOut=1", "call=write rank=1 count=3 errno=EIO", "offset 98304",
      rows=[])
fails("AIO write EIO before a sync", "-a AIO -Y -e", "call=write rank=1 count=3 errno=EIO", "write 16384 bytes at offset 98304", rows=[])
fails("AIO fsync EIO", "-a AIO -e", "call=fsync rank=1 errno=EIO", "fsync", "Input/output error", rows=[])
fails("AIO close EIO", "-a AIO", "call=close rank=1 errno=EIO", "close", "Input/output error", rows=[])
fails("AIO create EACCES", "-a AIO", "call=open rank=1 errno=EACCES", "create", "Permission denied", rows=[])
fails("AIO file per process", "-a AIO -F", "call=write rank=1 count=3 errno=EIO", words=(RANK1, "offset 32768 of 'testFile.00000001'"))
fails("AIO read EIO that nobody looks at", "-a AIO", "call=read rank=1 count=2 errno=EIO", "read 16384 bytes at offset 81920",
      "Input/output error", rows=["write"])
fails("AIO read ESTALE while checking", "-a AIO -W", "call=read rank=1 count=2 errno=ESTALE", "read 16384 bytes at offset 81920",
      "Stale file handle", rows=["write"])
fails("AIO refused submission", "-a AIO -s 4", "call=io_submit rank=1 count=1 errno=EBADF", "write 16384 bytes at offset 65536",
      "Bad file descriptor", rows=[])
fails("AIO completions EFAULT", "-a AIO", "call=io_getevents rank=1 errno=EFAULT", "wait for the transfers", "Bad address", rows=[])
fails("AIO short write with -x", "-a AIO -x", "call=write rank=1 count=2 short", "offset 81920", "8192 done", "short transfer", rows=[])
fails("AIO short read with -x", "-a AIO -x", "call=read rank=1 count=3 short=1", "offset 98304", "1 done", "short transfer", rows=["write"])
case("AIO no context", "-a AIO", "call=io_setup rank=1 errno=EAGAIN", 2, (RANK1, "io_setup", "aio-max-nr"))
case("AIO short writes and reads go on", "-a AIO -W", "call=write rank=1 times=0 short=5000;call=read times=0 short=7001", 0, rows=ALL)
case("AIO short writes, -R", "-a AIO -R", "call=write times=0 short=1000", 0, rows=ALL)
case("AIO EINTR and EAGAIN of transfers", "-a AIO -W -R",
     "call=write rank=1 count=2 eintr;call=write count=4 times=9 errno=EAGAIN;call=aio_read times=3 errno=EAGAIN", 0, rows=ALL)
case("AIO EINTR and EAGAIN of calls", "-a AIO -W -R -s 20 --aio.max-pending=8 --aio.granularity=4",
     "call=io_submit eintr;call=io_submit count=3 times=5 errno=EAGAIN;call=io_getevents times=3 eintr", 0, rows=ALL)
case("AIO partial submissions", "-a AIO -W -R -s 20", "call=io_submit times=0 short", 0, rows=ALL)
case("AIO flip in a write, -R", "-a AIO -R", "call=write rank=1 count=3 flip", 4, ("bit flip", RANK1, "byte 106496", "'testFile'"), rows=ALL)
case("AIO lost write", "-a AIO -W", "call=write rank=1 count=2 drop", 4, ("zeros", "byte 81920"), rows=ALL)
hangs("AIO hang in io_submit", "-a AIO", "call=io_submit rank=1 hang", RANK1 + "write of 16384 bytes at offset 65536")
hangs("AIO hang in io_getevents", "-a AIO", "call=io_getevents rank=1 hang", RANK1 + "write of 16384 bytes at offset 65536")

# ---- DUMMY, which injects by itself ----

case("DUMMY xfer EROFS", "-a DUMMY --dummy.fail-at=2 --dummy.fail-rank=2 --dummy.fail-errno=EROFS", np=3,
     words=("rank 2 on", "offset 147456 of 'testFile'", "injected: Read-only file system"), rows=[])
case("DUMMY sync ETIMEDOUT", "-a DUMMY -Y --dummy.fail-op=sync --dummy.fail-at=2 --dummy.fail-rank=1 --dummy.fail-errno=ETIMEDOUT",
     words=(RANK1, "'testFile'", "timed out"), rows=[])
case("DUMMY corrupt read", "-a DUMMY -R --dummy.corrupt-at=2", status=4, words=("'testFile'", "bit flip"), rows=ALL)
case("DUMMY slower than --io-timeout", "-a DUMMY --dummy.delay-xfer=30000000 --io-timeout=1",
     words=("rank ", "write of 16384 bytes at offset", "has not returned for "), many=True, rows=[], alone=True)

# ---- results that cannot be written ----

for option, left in (("-O summaryFile=", []), ("--report=json:", []), ("--report=csv:", []), ("-O saveRankPerformanceDetailsCSV=", []),
                     ("-k -D 60 -O stoneWallingWearOut=1 -O stoneWallingStatusFile=", ["testFile"])):
    word = option.split()[-1].rstrip("=:").replace("--report=", "")
    case("output %s full" % word, option + "/dev/full", status=2, words=("/dev/full", "No space left on device"), left=left)
for option in ("-O summaryFormat=JSON -O summaryFile=", "--report=text:", "-O saveRankPerformanceDetailsCSV=", "-O savePerOpDataCSV="):
    word = option.split()[-1].rstrip("=:").replace("--report=", "")
    case("output %s nowhere" % word, "-k " + option + "nowhere/f", status=2, words=("nowhere/f", "No such file"), rows=[])
case("standard output full", "", status=2, words=("write results to standard output", "No space"), rows=[], np=None, alone=True,
     prefix=["sh", "-c", 'exec "$0" "$@" >/dev/full'])


# ---- running a case ----

def check_lines(run, c):
    """Failures and wrong data have their one ERROR line, wrong data the lines that name them, too, successes no line."""
    if c["status"] == 0:
        assert run.errors == [] and run.warnings == [], run
        return
    if c["status"] == 4:
        lines = [" ".join(run.messages)]
        assert len(run.errors) == 1 and "wrong data in " in run.errors[0], run
    else:
        lines = run.errors
        assert len(lines) == 1 or (c["many"] and lines), run
    for word in c["words"]:
        assert any(word in line for line in lines), (word, run)
    limit = re.search(r"--io-timeout=(\d+)", c["args"])
    after = [float(n) for line in lines for n in re.findall(r"has not returned for (\d+\.\d) s", line)]
    assert not limit or (after and min(after) >= int(limit[1])), run


def part(args, fault):
    """A collective write or a queue that has failed leaves requests in OMPIO, which fails in every MPI_File_sync from then on."""
    return "requests" if "--depth" in args or (" -c" in args and ("call=write" in fault or not fault)) else ""


def plan(c):
    return {"name": c["name"], "args": WORK + c["args"], "fault": c["fault"], "np": c["np"], "part": part(c["args"], c["fault"]), **c["how"]}


@pytest.mark.parametrize("c", CASES)
@batched(plan)
def test_fault(run, c):
    assert run.returncode == c["status"], run
    check_lines(run, c)
    assert run.left == c["left"], (run.left, run)
    if c["rows"] is not None:
        assert run.accesses() == c["rows"], run
    if c["status"] in (0, 4):
        conftest.sound(run)
    elif not c["many"] and "--io-timeout" not in c["args"] and c["status"] == 3:
        assert "Finished" in run.stdout, run


def test_there_are_enough_cases():
    assert len(CASES) >= 60


# ---- a transfer that does not end ----

def test_a_queue_of_mpi_io_says_that_it_repeats_a_transfer_that_does_not_end(ior, shim, need_backend, told):
    """The call that repeats it succeeds, so only --io-timeout ends the run."""
    name = "MPIIO queue write that never ends"
    need_backend("MPIIO")
    run = ior("-w -b 64k -t 16k -a MPIIO --depth=3 --io-timeout=4", env=environment(ior, shim, "call=aio_write rank=0 count=2 hang"), timeout=SECONDS)
    told(name, run, ior.files())
    assert run.returncode == 3 and "rank 0 on %s: write of 16384 bytes at offset 16384" % HOST in run.errors[0], run
    assert re.search(r"NOTE: 'testFile': no transfer .* for 3 s, so a blocking call repeated the oldest one; .* after 6 s", run.stderr), run
    assert ior.files() == ["testFile"], run


# ---- delays are seen where they belong ----

def test_delays_are_seen_in_the_latencies_of_their_operation(ior, shim, told):
    name = "POSIX delays in every kind of call"
    rules = ["call=open rank=1 delay=110", "call=write rank=1 count=2 delay=220", "call=fsync rank=1 delay=330", "call=close rank=1 delay=140"]
    told(name)
    run = ior("-w -e -b 64k -t 16k --report=text:-,csv:phases.csv", env=environment(ior, shim, ";".join(rules)), timeout=SECONDS)
    told(name, run, ior.files())
    conftest.sound(run.ok(), DATA)
    row = next(csv.DictReader((ior.cwd / "phases.csv").open()))
    for key, least in (("openMax", 0.11), ("transferMax", 0.22), ("syncMax", 0.33), ("closeMax", 0.14), ("totalTime", 0.8)):
        assert float(row[key]) >= least, (key, row)
    conftest.timely(float(row["transferP50"]) < 0.22 and row["slowestRank"] == "1", row)


# ---- file systems that are full or read-only ----

MOUNTS = [
    ("full disk AIO", "size=1m", "-a AIO", "", ("write 65536 bytes at offset", "No space left")),
    ("full disk AIO, shared by a queue and a sync", "size=1m", "-a AIO -Y", "", ("write 65536 bytes at offset", "No space left")),
    ("read-only AIO", "ro,size=64k", "-a AIO", "", ("Read-only file system",)),
    ("full disk MPIIO queue", "size=1m", "-a MPIIO --depth=4", "", ("write 65536 bytes at offset", "No space left")),
    ("full disk MPIIO queue collective", "size=1m", "-a MPIIO -c --depth=4", "", ("write 65536 bytes at offset", "No space left")),
    ("full disk MMAP", "size=1m", "-a MMAP", "", ("No space left",)),
    ("full disk MMAP without fallocate", "size=1m", "-a MMAP", "call=fallocate times=0 errno=EOPNOTSUPP", ("No space left",)),
    ("full disk NCMPI", "size=1m", "-a NCMPI", "", ()),
    ("full disk NCMPI collective", "size=1m", "-a NCMPI -c", "", ()),
    ("full disk HDF5 chunks", "size=1m", "-a HDF5 -c --hdf5.chunkSize=8192", "", ()),
    ("no inodes left", "size=64m,nr_inodes=2", "-F", "", ("No space left",)),
    ("read-only MMAP", "ro,size=64k", "-a MMAP", "", ("Read-only file system",)),
    ("read-only NCMPI", "ro,size=64k", "-a NCMPI", "", ()),
]


@pytest.mark.parametrize("name, options, args, fault, words", MOUNTS, ids=[m[0].replace(" ", "-") for m in MOUNTS])
@batched(lambda name, options, args, fault, words: dict(name=name, args="--no-space-check -w -r -b 1m -t 64k -s 2 -o fs/f " + args, fault=fault,
                                                        mount=options, part=part(args, fault)))
def test_a_file_system_that_is(run, name, options, args, fault, words):
    run.fails(3, "fs/f", "rank ", *words)
    assert run.left == ["fs"], run


def test_a_directory_that_vanishes_during_the_run(ior, told):
    name = "directory removed during the run"
    told(name)
    (ior.cwd / "d").mkdir()
    proc = ior.start("-w -F -b 8k -t 8k -s 40 -i 100 -O interIODelay=5000 -o d/f")
    conftest.wait_until(lambda: len(os.listdir(ior.cwd / "d")) > 0)
    (ior.cwd / "d").rename(ior.cwd / "gone")  # at once: files come and go in it
    run = ior.finish(proc, SECONDS)
    shutil.rmtree(ior.cwd / "gone")
    told(name, run, ior.files())
    run.fails(3, "d/f.0000000", "No such file or directory")
    assert ior.files() == []


# ---- ranks that are killed or stopped, and signals that meet a stuck call ----

def wait_for_stop(ior, proc):
    """The pid of the rank that has stopped itself."""
    def stopped():
        return [pid for pid in conftest.ranks_of(proc.pid) if is_stopped(pid)]
    conftest.wait_until(stopped)
    return stopped()[0]


def wait_for_first_write(ior):
    """Of rank 1, which begins at byte 65536: the next one is the faulty one."""
    path = ior.cwd / "testFile"
    conftest.wait_until(lambda: path.exists() and path.stat().st_size >= 65536 + 16384)


@pytest.mark.parametrize("args", ["", "-a AIO", "-a MPIIO -c", "-a MPIIO -c --depth=3", "-a HDF5 -c", "-F"])
def test_a_killed_rank_ends_the_job(ior, shim, need_backend, told, args):
    name = "rank killed in a write " + args
    told(name)
    need_backend(backend_of(args))
    run = ior(WORK + args, env=environment(ior, shim, "call=write rank=1 kill"), timeout=SECONDS)
    told(name, run, ior.files())
    assert run.returncode not in (0, 6) and run.accesses() == [] and "Finished" not in run.stdout, run
    assert ior.files() and set(ior.files()) <= {"testFile", "testFile.00000000", "testFile.00000001"}  # nobody is left to remove them
    check_time(run)


def test_a_stopped_rank_goes_on_where_it_was(ior, shim, told):
    name = "rank stopped, then continued"
    told(name)
    proc = ior.start(WORK + "-R", env=environment(ior, shim, "call=write rank=1 count=2 stop"))
    pid = wait_for_stop(ior, proc)
    assert proc.poll() is None
    os.kill(pid, signal.SIGCONT)
    run = ior.finish(proc, SECONDS)
    told(name, run, ior.files())
    conftest.sound(run.ok(), DATA)
    assert ior.files() == []


def test_a_stopped_rank_is_given_up_by_one_that_waits_for_it_in_a_call(ior, shim, told):
    """The stopped one cannot tell, so its neighbour does, and says what waits for it."""
    name = "rank stopped in a collective open, --io-timeout"
    told(name)
    run = ior(WORK + "-a MPIIO --io-timeout=2", env=environment(ior, shim, "call=open rank=1 stop"), timeout=SECONDS)
    told(name, run, ior.files())
    assert run.returncode == 3, run  # the launcher may let the stopped one go on before it ends it: then that one complains, too
    assert any(e.startswith("rank 0 on") and "open of 'testFile' has not returned" in e for e in run.errors), run
    assert any(e.startswith("rank 1 on") and "stands still" in e for e in run.errors), run


@pytest.mark.parametrize("what", ["stop", "hang"])
def test_the_launcher_ends_a_job_with_a_rank_that_does_not_move(ior, shim, told, what):
    name = "rank in %s, SIGTERM to the launcher" % what
    told(name)
    proc = ior.start(WORK, env=environment(ior, shim, "call=write rank=1 count=2 " + what))
    ior.wait_for_ranks(proc, 2)
    if what == "stop":
        wait_for_stop(ior, proc)
    wait_for_first_write(ior)
    proc.send_signal(signal.SIGTERM)
    run = ior.finish(proc, SECONDS)
    told(name, run, ior.files())
    assert run.returncode != 0, run
    if what == "hang":
        assert "Finished" not in run.stdout and ior.files() == ["testFile"], run
    else:  # the launcher may let a stopped process go on, and end it when it gets so far
        assert ior.files() in ([[]] if "Finished" in run.stdout else [[], ["testFile"]]), run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_a_slow_call_ends_the_run_after_it(ior, shim, told, number):
    name = "%s to rank 0 while rank 1 is in a slow write" % number.name
    told(name)
    proc = ior.start(WORK + "-s 10", env=environment(ior, shim, "call=write count=2 times=0 rank=1 delay=1000"))
    pids = ior.wait_for_ranks(proc, 2)
    wait_for_first_write(ior)
    os.kill(pids[0], number)
    run = ior.finish(proc, SECONDS)
    told(name, run, ior.files())
    assert run.returncode == 6 and len(run.errors) == 1 and "interrupted in the write phase" in run.errors[0], run
    assert ior.files() == [], run


def test_the_processes_of_all_these_runs_end_in_order(batches):
    check_ends(batches)
