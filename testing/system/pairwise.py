# SPDX-License-Identifier: BSD-3-Clause
"""Cases that hold every pair of values of any two parameters, and a runner of many cases in one process (many.c)."""
import itertools
import json
import shutil
import subprocess

import conftest

MANY = conftest.BUILD / "testing" / "system" / "many"
SECONDS = 20 * conftest.PATIENCE  # of a case that hangs, without those in which it waits for a processor
WALL = 15  # times as many, with these (many.c)
LAUNCHES = 12  # after that many crashes and hangs the rest is not run


# ---- the generator ----

class Cover:
    """cases() for parameters (name -> values). allowed(case) says for a part of a case whether it may become one. Parts in
    'wanted' occur too, and every triple of values of the parameters in 'core'."""

    def __init__(self, parameters, allowed, core=(), wanted=()):
        self.parameters = parameters
        self.names = list(parameters)
        self.allowed = allowed
        self.core = set(core)
        self.wanted = [frozenset(part.items()) for part in wanted]
        self.infeasible = []

    def targets(self):
        """What must occur in a case."""
        yield from self.wanted
        groups = list(itertools.combinations(self.names, 2))
        groups += itertools.combinations([n for n in self.names if n in self.core], 3)
        for group in groups:
            for values in itertools.product(*(self.parameters[n] for n in group)):
                part = dict(zip(group, values))
                if self.allowed(part):
                    yield frozenset(part.items())

    def gain(self, case, name, value):
        """How many pairs and triples that are still missing this value would add."""
        item = (name, value)
        others = list(case.items())
        found = sum(1 for o in others if frozenset((o, item)) in self.left)
        if name in self.core:
            inner = [o for o in others if o[0] in self.core]
            found += sum(1 for a, b in itertools.combinations(inner, 2) if frozenset((a, b, item)) in self.left)
        return found

    def complete(self, case, names):
        if not names:
            return case
        name, rest = names[0], names[1:]
        values = self.parameters[name]
        turn = self.turn % len(values)  # values of the same gain take turns
        ranked = sorted(values[turn:] + values[:turn], key=lambda v: -self.gain(case, name, v))
        for value in ranked:
            more = {**case, name: value}
            if self.allowed(more):
                done = self.complete(more, rest)
                if done:
                    return done
        return None

    def cases(self):
        order = list(dict.fromkeys(sorted(self.targets(), key=lambda t: (-len(t), sorted(t)))))
        self.left = set(order)
        self.turn = 0
        made = []
        for target in order:
            if target not in self.left:
                continue
            self.turn += 1
            first = dict(target)
            names = sorted((n for n in self.names if n not in first), key=lambda n: (n not in self.core, self.names.index(n)))
            case = self.complete(first, names)
            if not case:
                self.infeasible.append(target)
                self.left.discard(target)
                continue
            case = {n: case[n] for n in self.names}
            made.append(case)
            self.left -= {w for w in self.wanted if w <= case.items()}
            for size in (2, 3):
                for part in itertools.combinations(case.items(), size):
                    self.left.discard(frozenset(part))
        return made


# ---- the runner ----

class Case:
    """One command line with its fault, and afterwards what came of it."""

    def __init__(self, program, words, fault=("clean", 0)):
        self.program, self.words, self.fault = program, list(words), fault
        self.result = None  # end, hang, crash
        self.status = self.files = self.threads = None
        self.error = ""
        self.prints = False  # what it prints is kept in files beside its directory
        self.seconds = None
        self.exit = None  # of the launcher after the last case
        self.given = []  # files that are there before

    def __repr__(self):
        kind, _, rank = self.fault[0].partition("@")
        fault = "" if kind == "clean" else "   [%s %s on rank %s]" % (kind, self.fault[1], rank or 1)
        return "%s %s%s" % (self.program, " ".join(self.words), fault)

    def prepare(self, path):
        """Make the directory of the case. A file path.out, path.err is filled with what it prints."""
        self.dir = path
        path.mkdir()
        if self.prints:
            path.with_suffix(".err").touch()
        for given in self.given:
            shutil.copy(given, path)

    def messages(self):
        """Lines of standard error, of a case that 'prints'."""
        return self.dir.with_suffix(".err").read_text(errors="replace").splitlines()

    def names(self):
        """What is left in the directory of the case."""
        return sorted(str(p.relative_to(self.dir)) for p in self.dir.rglob("*"))

    def document(self):
        """The JSON file as one value, None when there is none."""
        path = self.dir / "r.json"
        if not path.exists():
            return None

        def refuse(word):
            raise ValueError("%s is no JSON" % word)
        return json.loads(path.read_text(), parse_constant=refuse)


def launch(cases, tmp_path, ranks, many=MANY, seconds=SECONDS, env=None, libraries=(), prefix=()):
    """Run the cases in as few processes as crashes and hangs allow, with these preloaded libraries, and fill in their results. prefix:
    words before the launcher."""
    lines = tmp_path / "cases"
    log = tmp_path / "log"
    for number, case in enumerate(cases):
        case.prepare(tmp_path / ("case-%d" % number))
        words = [case.fault[0], str(case.fault[1]), case.program] + case.words
        assert not any("\t" in w or "\n" in w or not w for w in words), case
        with open(lines, "a") as f:
            f.write("\t".join(words) + "\n")
    log.touch()
    env = conftest.program_env({**(env or {}), **conftest.naps(*libraries)})
    first = said = 0
    for _ in range(LAUNCHES):
        command = list(prefix) + conftest.LAUNCHER + ["-np" if conftest.OPEN_MPI else "-n", str(ranks), many, log, lines, first, seconds]
        with open(tmp_path / "err", "ab") as err, open(tmp_path / "out", "ab") as out:
            proc = subprocess.Popen([str(w) for w in command], cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                    start_new_session=True)
            try:
                proc.wait(seconds * (len(cases) - first + 2 + WALL))
            except subprocess.TimeoutExpired:
                conftest.kill_all(proc)
                proc.wait()
        last = None
        for line in log.read_text().splitlines()[said:]:
            word, number, *rest = line.split(" ", 5)
            said += 1
            if int(number) == len(cases):  # hangs in MPI_Finalize
                break
            last = cases[int(number)]
            if word == "took":
                last.seconds = int(rest[0]) / 1000
            elif word == "end":
                last.result = "end"
                last.status, last.files, last.threads = (int(x) for x in rest[:3])
                last.error = rest[3] if len(rest) > 3 else ""
            elif word == "hang":
                last.result = "hang"
                last.error = "%d s, %d s of them not waiting for a processor" % (int(rest[1]), int(rest[0]))
        if proc.returncode == 0 and (not cases or cases[-1].result):
            break
        if not last:
            text = (tmp_path / "err").read_text()
            conftest.check_launcher(proc.pid, text)
            raise AssertionError("nothing was run: " + text[-2000:])
        if last.result is None:
            last.result = "crash"
        elif last is cases[-1]:  # in MPI_Finalize
            break
        elif last.result == "end":  # before the next one had begun
            last = cases[cases.index(last) + 1]
            last.result = "crash"
        first = cases.index(last) + 1
        if first == len(cases):
            break
    if cases:
        cases[-1].exit = proc.returncode
    return cases
