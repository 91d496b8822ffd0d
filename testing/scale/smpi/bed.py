# SPDX-License-Identifier: BSD-3-Clause
"""bed.py - weir's programs built for SimGrid's SMPI, and run on simulated machines

All of weir is compiled by the plain compiler with the simulator's mpi.h. A program is then a shared object,
which the simulator loads once for all ranks (weir has no state at file scope, so no rank needs a copy). The
linker puts simulated.c in place of clocks, sleeps, threads and the kernel's identity, and collectives.c in
place of the calls of MPI that the simulator does with P^2 messages."""
import json
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PROGRAMS = {"ior": "ior", "mdtest": "mdtest", "md-workbench": "md_workbench"}  # and the name of its object
PARTS = ["simulated.c", "collectives.c"]
MPI = ["-I/usr/include/smpi"]
LINK = ["-lsimgrid", "-lm"]
STORAGE_US = 77     # an operation, as in simulated.c
LEAF = 16           # hosts below a switch
LATENCY_US = 1      # of a link; a way has 2 links below a switch and 4 between switches
OVERHEAD_US = 0.2   # of a rank for each message that it sends or receives

# Of the simulator's algorithms those that do log P messages a rank, as MPI libraries choose for few bytes.
COLLECTIVES = {"reduce": "binomial", "gather": "ompi_binomial", "bcast": "binomial_tree", "allgather": "bruck",
               "allreduce": "redbcast", "barrier": "ompi_tree"}


class Failed(Exception):
    """Something could not be built or run; the text says what."""


def missing():
    """The Debian package that is missing, or None."""
    return None if shutil.which("smpirun") and os.path.exists("/usr/include/smpi/mpi.h") else "libsimgrid-dev"


def call(command, cwd, what, seconds=600):
    try:
        done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise Failed(f"{what}: no end in {seconds} s") from None
    if done.returncode:
        raise Failed(f"{what} fails:\n{done.stdout[-3000:]}")
    return done.stdout


def configure(out):
    """An MPI compiler that only answers what its flags are is enough for configure."""
    show = os.path.join(out, "smpi-flags")
    with open(show, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\necho gcc {' '.join(MPI + LINK)}\n")
    os.chmod(show, 0o755)
    call([f"{SOURCE}/configure", "-q", f"CC={os.environ.get('CC', 'gcc')}", f"MPICC={show}", "MPIEXEC=smpirun", "CFLAGS=-O1",
          "--without-hdf5", "--without-ncmpi", "--without-netcdf", "--without-aio"], out, "configure")


def wrapped():
    """The calls of which simulated.c and collectives.c have their own."""
    names = set()
    for part in PARTS:
        with open(os.path.join(HERE, part), encoding="ascii") as f:
            names.update(re.findall(r"\b__wrap_(\w+)\(", f.read()))
    return sorted(names)


def build(out, programs=PROGRAMS):
    """Shared objects OUT/PROGRAM.so; from a tree after ./bootstrap. Only what is not up to date is made."""
    os.makedirs(out, exist_ok=True)
    if not os.path.exists(f"{out}/Makefile"):
        configure(out)
    compiler = [os.environ.get("CC", "gcc"), "-O1", "-fPIC", "-D_GNU_SOURCE", "-Wall", "-Wextra", *MPI]
    parts = [f"{HERE}/{part}" for part in PARTS]
    call(["make", "-s", f"-j{os.cpu_count()}", "src/libweir.a", *(f"src/programs/{PROGRAMS[p]}-main.o" for p in programs)],
         out, "make")
    call([*compiler, "-c", *parts], out, "the compiler")
    replaced = "-Wl,-z,defs" + "".join(f",--wrap={name}" for name in wrapped())
    for program in programs:
        call(["objcopy", "--redefine-sym", "main=weir_program_main", f"src/programs/{PROGRAMS[program]}-main.o",
              f"{program}-main.o"], out, "objcopy")
        call([compiler[0], "-shared", replaced, "-o", f"{program}.so", f"{program}-main.o",
              *(part.replace(".c", ".o") for part in PARTS), "src/libweir.a", *LINK], out, "the linker")
    call([*compiler, "-shared", "-o", "bare.so", f"{HERE}/bare.c", *LINK], out, "the compiler")


def platform(nodes, path):
    """A fat tree: LEAF hosts to a switch, half as many switches above them, which all are connected to."""
    switches = (nodes + LEAF - 1) // LEAF
    with open(path, "w", encoding="ascii") as f:
        f.write(f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="tree" prefix="n" suffix="" radical="0-{switches * LEAF - 1}" speed="1Gf"
  bw="12.5GBps" lat="{LATENCY_US}us" loopback_bw="10GBps" loopback_lat="0.5us"
  topology="FAT_TREE" topo_parameters="2;{LEAF},{switches};1,{LEAF // 2};1,1"/></platform>
""")


def run(out, shared_object, arguments, nodes, per_node, where, seconds=600):
    """Ranks in blocks on simulated nodes. Returns what they wrote, and the times of simulated.c."""
    platform(nodes, f"{where}/platform.xml")
    with open(f"{where}/hosts", "w", encoding="ascii") as f:
        f.writelines(f"n{i}\n" * per_node for i in range(nodes))
    overhead = f"0:{OVERHEAD_US}e-6:0"
    options = [f"smpi/{name}:{algorithm}" for name, algorithm in COLLECTIVES.items()]
    options += ["network/model:CM02", "smpi/simulate-computation:no", "smpi/async-small-thresh:65536",
                "smpi/test:1e-6", "smpi/iprobe:1e-6", "smpi/grow-injected-times:no",
                *(f"smpi/o{of}:{overhead}" for of in ("s", "is", "r"))]
    times = f"{where}/times.json"
    command = ["smpirun", "-no-privatize", "-np", str(nodes * per_node), "-platform", f"{where}/platform.xml",
               "-hostfile", f"{where}/hosts", "--log=root.thresh:error", *(f"--cfg={o}" for o in options),
               f"{out}/{shared_object}", *arguments]
    if os.path.exists(times):
        os.unlink(times)
    os.environ["WEIR_SIMULATED"] = times
    text = call(command, where, " ".join(arguments), seconds)
    if not os.path.exists(times):
        return text, None
    with open(times, encoding="ascii") as f:
        return text, json.load(f)
