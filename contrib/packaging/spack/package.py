# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe for weir: put it into a repository of yours as packages/weir/package.py."""
from spack.package import *


class Weir(AutotoolsPackage):
    """Parallel I/O benchmarks with the command line of IOR."""

    # There is no released archive yet: build from a checkout, "spack dev-build weir@main" in its directory.
    version("main")

    license("BSD-3-Clause")

    variant("aio", default=True, description="backend AIO")
    variant("hdf5", default=True, description="backend HDF5")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("libaio", when="+aio")
    depends_on("hdf5@1.10: +mpi", when="+hdf5")

    def autoreconf(self, spec, prefix):
        Executable("./bootstrap")()

    def configure_args(self):
        spec = self.spec
        args = [f"CC={spec['mpi'].mpicc}"]
        args += self.with_or_without("aio", activation_value=lambda _: spec["libaio"].prefix)
        args += self.with_or_without("hdf5", activation_value=lambda _: spec["hdf5"].prefix)
        return args
