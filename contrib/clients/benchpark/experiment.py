# SPDX-License-Identifier: BSD-3-Clause
"""An experiment of Benchpark: put this file into experiments/weir/, and the application of Ramble into repo/weir/."""
from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.mpi import MpiOnlyExperiment


class Weir(Experiment, MpiOnlyExperiment):
    variant("workload", default="ior", values=("ior", "mdtest", "mib", "md-workbench"), description="program")
    variant("version", default="latest", description="version of weir")

    def compute_applications_section(self):
        self.add_experiment_variable("n_ranks", 4, True)
        if self.spec.satisfies("workload=ior"):
            self.add_experiment_variable("options", "-t 1m -b 256m -e -i 7 -o {experiment_run_dir}/file")
        elif self.spec.satisfies("workload=mdtest"):
            self.add_experiment_variable("options", "-n 1000 -F -i 7 -d {experiment_run_dir}/tree")

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"weir{self.determine_version()}"])
