# SPDX-License-Identifier: BSD-3-Clause
"""An application of Ramble: put this file into applications/weir/ of a repository of applications."""
from ramble.appkit import *  # noqa: F403

RESULT = "{experiment_run_dir}/weir.json"
NUMBER = r"([0-9.]+(?:e[+-]?[0-9]+)?)"


class Weir(ExecutableApplication):  # noqa: F405
    """weir: parallel I/O of ior, mdtest, mib and md-workbench on one engine."""

    name = "weir"
    tags("io", "benchmark", "mpi")
    software_spec("weir", pkg_spec="weir")
    required_package("weir")

    for program in ("ior", "mdtest", "mib", "md-workbench"):
        executable(program, program + " {options} --report=text:-,json:" + RESULT, use_mpi=True)
        workload(program, executable=program)
    workload_variable("options", default="-t 1m -b 256m -e -i 7 -o file", description="Options of ior", workloads=["ior"])
    workload_variable("options", default="-n 1000 -F -i 7 -d tree", description="Options of mdtest", workloads=["mdtest"])
    workload_variable(
        "options", default="", description="Options of mib or md-workbench", workloads=["mib", "md-workbench"]
    )

    # Lines of the result: a row of "rates" has the operation in one line, and its median in another.
    figure_of_merit_context("operation", regex=r'\s*"operation": "(?P<operation>[^"]+)"', output_format="{operation}")
    figure_of_merit(
        "median rate",
        log_file=RESULT,
        fom_regex=r'\s*"median": (?P<rate>' + NUMBER[1:-1] + ")",
        group_name="rate",
        units="bytes/s, or operations/s where no bytes are moved",
        contexts=["operation"],
    )
    figure_of_merit(
        "verdict", log_file=RESULT, fom_regex=r'\s*"verdict": "(?P<verdict>\w+)"', group_name="verdict", units=""
    )
    figure_of_merit("error", log_file=RESULT, fom_regex=r'  "error": "(?P<error>.+)"', group_name="error", units="")
    success_criteria("status", mode="string", match=r'  "status": [05],', file=RESULT)
