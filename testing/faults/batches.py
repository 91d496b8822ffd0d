# SPDX-License-Identifier: BSD-3-Clause
"""Runs of ior under the shim, many in one process (testing/system/many.c).

A test has the mark batched(plan), which makes the arguments of Planned from its parameters, and the fixture run, which is the
Run that came of it. The runs of all selected tests of a file are made together when the first of them is asked for, once for all
workers of xdist. A run that ends the job is 'alone': it has a launch of its own."""
import fcntl
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import traceback

import pytest

import conftest
from faults_support import SECONDS, backend_of, check_time, environment

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from mdtest_support import tmpfs  # noqa: E402
from pairwise import Case, launch  # noqa: E402


def batched(plan):
    """The mark of a test; plan(**parameters) gives the keywords of Planned."""
    return pytest.mark.batched(plan=plan)


class Planned(Case):
    """A run: its name in the table, the words of ior, the rules of the shim, MPI-IO part of Open MPI (None: that of the machine).
    before: words of a run before it in the same directory; mount: options of a tmpfs at fs/;
    skip: why it cannot be; part: of the batch, where the libraries are not as new after it for the others."""

    def __init__(self, name, args, fault="", np=2, io=None, before=None, mount=None, alone=False, prefix=(), skip=None, part=""):
        super().__init__("ior", shlex.split(args), ("shim", fault) if fault else ("clean", 0))
        self.name, self.args, self.rules, self.np, self.io = name, args, fault, np, io
        self.batch = "-".join(str(word) for word in (np, io, part) if word)
        self.mount, self.alone, self.prefix, self.skip = mount, alone, prefix, skip
        self.first = Planned(name + ", before", before, np=np, io=io) if before else None
        self.left, self.dir = [], None

    def is_possible(self):
        return not self.skip and backend_of(self.args) in conftest.backends()

    def env(self):
        return {"OMPI_MCA_io": self.io} if self.io else {}

    def prepare(self, path):
        if self.first:  # it is the case before this one
            path.symlink_to(self.first.dir, target_is_directory=True)
            self.dir = path
        else:
            super().prepare(path)
        for end in ("out", "err"):
            path.with_suffix("." + end).touch()
        if self.mount:
            try:
                tmpfs(path / "fs", self.mount)
            except pytest.skip.Exception as why:
                self.skip = str(why)

    def finish(self):
        """Note what is left, and unmount."""
        place = self.dir.resolve()
        self.left = sorted(str(p.relative_to(place)) for p in place.rglob("*"))
        if self.mount and not self.skip:
            subprocess.run(["umount", "-l", str(place / "fs")], check=True)

    def outcome(self):
        """All of it as JSON has it."""
        texts = [self.dir.with_suffix("." + end).read_text(errors="replace") for end in ("out", "err")]
        return dict(words=self.words, result=self.result, status=self.status, error=self.error, seconds=self.seconds, cwd=str(self.dir),
                    texts=texts, left=self.left, skip=self.skip, first=self.first.outcome() if self.first else None)


def planned(item):
    """The run of a test, None: it has none here."""
    mark = item.get_closest_marker("batched")
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return Planned(**mark.kwargs["plan"](**params)) if mark else None


def run_of(found):
    """The Run of an outcome; a failure where it has not come to its end."""
    run = conftest.Run(found["words"], found["status"], *found["texts"], found["seconds"] or 0.0, pathlib.Path(found["cwd"]))
    run.left = found["left"]
    wrong = {"end": None, "hang": "hangs: " + found["error"], "crash": "crashes", None: "was not run"}[found["result"]]
    assert not wrong, "%s\n%r" % (wrong, run)
    return run


# ---- batches ----

def make(plans, place, shim):
    """Run these, test -> Planned; test -> outcome, and "exit": the status of the launcher."""
    cases = [case for plan in plans.values() for case in (plan.first, plan) if case]
    plan = cases[-1]
    env = {"OMPI_MCA_sharedfp": "^lockedfile", **plan.env()}  # as main() has it
    try:
        launch(cases, place, plan.np, seconds=SECONDS * conftest.PATIENCE, env=env, libraries=(shim,))
    finally:
        for case in cases:
            if case.dir:
                case.finish()
    return {"exit": plan.exit, "text": (place / "err").read_text(), **{test: plan.outcome() for test, plan in plans.items()}}


class Batches:
    """The batches of a file: one for each number of ranks, MPI-IO part, and part of its own."""

    def __init__(self, items, path, base, shim):
        plans = {item.nodeid: planned(item) for item in items if item.path == path}
        self.plans = {test: plan for test, plan in plans.items() if plan and plan.is_possible() and not plan.alone}
        self.stem, self.base, self.shim = path.stem, base, shim
        self.done = {}

    def names(self):
        return sorted({plan.batch for plan in self.plans.values()})

    def make(self, batch):
        """The outcomes of a batch, or why it could not be made: for all its tests, which do not try it again."""
        some = {test: plan for test, plan in self.plans.items() if plan.batch == batch}
        try:
            return make(some, pathlib.Path(tempfile.mkdtemp(prefix="%s-%s-" % (self.stem, batch), dir=self.base)), self.shim)
        except conftest.LauncherCrash:
            raise
        except Exception:  # pylint: disable=broad-except
            return {"broken": traceback.format_exc()}

    def outcomes(self, batch):
        """All of a batch; it is made where no worker has done so."""
        if batch not in self.done:
            place = self.base / ("%s-%s" % (self.stem, batch))
            with open(place.with_suffix(".lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                results = place.with_suffix(".json")
                if not results.exists():
                    results.write_text(json.dumps(self.make(batch)))
                self.done[batch] = json.loads(results.read_text())
        assert "broken" not in self.done[batch], self.done[batch]["broken"]
        return self.done[batch]


@pytest.fixture(scope="module")
def batches(request, tmp_path_factory, shim):
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    return Batches(request.session.items, request.path, base, shim)


@pytest.fixture
def run(request, told, need_backend, ior, shim, batches):
    """The run of this test."""
    plan = planned(request.node)
    told(plan.name)
    need_backend(backend_of(plan.args))
    if plan.skip:
        pytest.skip(plan.skip)
    if plan.alone:
        run = ior(plan.args, np=plan.np, prefix=plan.prefix, env={**plan.env(), **environment(ior, shim, plan.rules)}, timeout=SECONDS)
        run.left = ior.files()
        check_time(run)
    else:
        found = batches.outcomes(plan.batch)[request.node.nodeid]
        if found["skip"]:
            pytest.skip(found["skip"])
        if found["first"]:
            run_of(found["first"]).ok()
        run = run_of(found)
    told(plan.name, run, run.left)
    return run


def check_ends(batches):
    """Libraries may crash or hang at the end, in MPI_Finalize, after a failure that they could not undo."""
    for batch in batches.names():
        found = batches.outcomes(batch)
        assert found["exit"] == 0, (batch, found["exit"], found["text"])
