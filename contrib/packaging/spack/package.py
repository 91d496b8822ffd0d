# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe for weir, for Spack 1.x: put it into a repository of yours as packages/weir/package.py. With
"spack develop --path . weir@main" or "spack dev-build weir@main" it builds a checkout."""
import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Weir(AutotoolsPackage):
    """Parallel I/O benchmarks with the command lines of ior, mdtest, md-workbench and mib, alone or several at once."""

    # There is no released archive yet.
    version("main")

    license("BSD-3-Clause")

    variant("aio", default=True, description="backend AIO")
    variant("uring", default=True, description="backend URING")
    variant("hdf5", default=True, description="backend HDF5")
    variant("netcdf", default=False, description="backend NETCDF (parallel netCDF-C)")
    variant("ncmpi", default=False, description="backend NCMPI (PnetCDF)")
    variant("s3", default=False, description="backend S3 (object storage)")
    variant("lustre", default=False, description="layouts of Lustre (--posix.lustre.*)")

    depends_on("c", type="build")
    depends_on("autoconf", type="build", when="@main")
    depends_on("automake", type="build", when="@main")
    depends_on("libtool", type="build", when="@main")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python", type=("build", "run"))
    depends_on("mpi@3.1:")
    depends_on("libaio", when="+aio")
    depends_on("liburing", when="+uring")
    depends_on("hdf5@1.10: +mpi", when="+hdf5")
    depends_on("netcdf-c +mpi", when="+netcdf")
    depends_on("parallel-netcdf@1.8:", when="+ncmpi")
    depends_on("curl@7.66:", when="+s3")
    depends_on("expat", when="+s3")
    depends_on("openssl", when="+s3")
    depends_on("lustre", when="+lustre")

    conflicts("+netcdf", when="~hdf5", msg="parallel netCDF-C is built on HDF5")

    def autoreconf(self, spec, prefix):
        Executable("./bootstrap")()

    def configure_args(self):
        spec = self.spec
        args = [f"CC={spec['mpi'].mpicc}"]
        for name, package in (("aio", "libaio"), ("uring", "liburing"), ("hdf5", "hdf5"), ("netcdf", "netcdf-c"), ("ncmpi", "parallel-netcdf"),
                              ("lustre", "lustre")):
            args += self.with_or_without(name, activation_value=lambda _, p=package: spec[p].prefix)
        return args + self.with_or_without("s3")

    def test_version(self):
        """the programs start without a launcher"""
        for name in ("ior", "mdtest", "md-workbench", "mib", "weir-io500", "weir-mix"):
            with test_part(self, f"test_version_{name}", purpose=f"{name} tells its version"):
                said = Executable(os.path.join(self.prefix.bin, name))("--version", output=str.split, error=str.split)
                check_outputs("weir", said)

    def test_round_trip(self):
        """ior writes, checks and reads a file with each backend"""
        ior = Executable(os.path.join(self.prefix.bin, "ior"))
        backends = ["POSIX", "MMAP", "MPIIO"]
        backends += [name.upper() for name in ("aio", "hdf5", "netcdf", "ncmpi") if self.spec.satisfies(f"+{name}")]
        for name in backends:
            with test_part(self, f"test_round_trip_{name}", purpose=f"data of {name} are right"):
                said = ior("-a", name, "-t", "64k", "-b", "256k", "-w", "-W", "-R", "-o", f"file-{name}", output=str.split,
                           error=str.split)
                check_outputs(r"write +[0-9]", said)
