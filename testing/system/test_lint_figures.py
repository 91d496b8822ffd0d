# SPDX-License-Identifier: BSD-3-Clause
"""testing/lint/shape.sh: figures of src only go down. Each test has a small repository with sources, rooms and budgets."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import SOURCE

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="no git (Debian: git)")
LINES = "lines of base/*"
BUDGETS = "testing/lint/budgets"


class Repository:
    """A repository with a room of three lines. Its budget is 3; those of all other figures are large."""

    def __init__(self, top):
        self.top = top
        self.write("src/engine/run.h", "struct weir_run {\n    int a;\n};\n")
        self.write("src/base/text/one.c", "int one;\nint two;\nint three;\n")
        self.write("testing/lint/rooms", "base/* 2\nengine 9\nall 100\n")
        self.write("testing/lint/floors", "base/text:\none\n")
        (top / "testing/which-python").symlink_to(SOURCE / "testing/which-python")
        (top / "testing/lint/shape.py").symlink_to(SOURCE / "testing/lint/shape.py")
        self.git("init", "-q", "-b", "main")
        self.write(BUDGETS, "     0 %s\n" % LINES)
        self.commit("the old form: these figures are no budgets")
        self.write(BUDGETS, "# Figures that only go down\n")
        self.lint("--lower")
        self.write(BUDGETS, re.sub(r"^ +\d+ ", "  1000 ", (top / BUDGETS).read_text(), flags=re.M))
        self.budget(3)
        self.commit("the new form")

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words):
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", HOME=str(self.top))
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=self.top, env=env, check=True, capture_output=True)

    def commit(self, subject):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def grow(self, lines):
        """A source with so many lines in the room."""
        self.write("src/base/text/one.c", "int n;\n" * lines)

    def budget(self, number, *more):
        """Write this budget of the room, and lines at the end of the file."""
        text = re.sub(r"\n +\d+ %s\n" % re.escape(LINES), "\n%6d %s\n" % (number, LINES), (self.top / BUDGETS).read_text())
        self.write(BUDGETS, text + "".join(line + "\n" for line in more))

    def lint(self, *words):
        """Run the linter: its status and its output."""
        env = {**os.environ, "WEIR_SOURCE": str(self.top)}
        for name in list(env):
            if name.startswith("GIT_"):
                del env[name]
        done = subprocess.run(["sh", str(SOURCE / "testing/lint/shape.sh"), *words], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_figures_within_their_budgets_pass(repository):
    rc, text = repository.lint()
    assert rc == 0, text
    assert "3 of      3 %s (goal 2)" % LINES in text


def test_a_figure_above_its_budget_fails(repository):
    repository.grow(4)
    rc, text = repository.lint()
    assert rc == 1 and "%s: 4, and 3 are allowed" % LINES in text, text


@pytest.mark.parametrize("committed", [False, True])
def test_a_raised_budget_fails(repository, committed):
    repository.grow(5)
    repository.budget(5)
    if committed:
        repository.commit("raise")
        repository.grow(4)
        repository.budget(4)
        repository.commit("lower: it is still above the first one")
    rc, text = repository.lint()
    assert rc == 1 and "%s: the budget was raised from 3 to %d" % (LINES, 4 if committed else 5) in text, text


def test_a_budget_that_a_merged_branch_lowered_stays_low(repository):
    repository.git("checkout", "-q", "-b", "side")
    repository.grow(2)
    repository.budget(2)
    repository.commit("lower")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merge, without the changes", "side")
    rc, text = repository.lint()
    assert rc == 1 and "raised from 2 to 3" in text, text


@pytest.mark.parametrize("raised", [False, True])
def test_an_allow_line_permits_more(repository, raised):
    repository.grow(5)
    repository.budget(5 if raised else 3, "allow %s 5: a reader of scripts" % LINES)
    repository.commit("build")
    rc, text = repository.lint()
    assert rc == 0, text


def test_a_figure_above_its_allow_line_fails(repository):
    repository.grow(6)
    repository.budget(3, "allow %s 5: a reader of scripts" % LINES)
    rc, text = repository.lint()
    assert rc == 1 and "%s: 6, and 5 are allowed" % LINES in text, text


def test_a_budget_above_its_allow_line_fails(repository):
    repository.grow(5)
    repository.budget(6, "allow %s 5: a reader of scripts" % LINES)
    rc, text = repository.lint()
    assert rc == 1 and "raised from 3 to 6" in text, text


def test_an_allow_line_is_raised_with_another_reason_only(repository):
    repository.grow(5)
    repository.budget(3, "allow %s 5: a reader of scripts" % LINES)
    repository.commit("build")
    repository.grow(6)
    text = (repository.top / BUDGETS).read_text()
    repository.write(BUDGETS, text.replace("5: a reader", "6: a reader"))
    rc, said = repository.lint()
    assert rc == 1 and "the allow line was raised from 5 to 6" in said, said
    repository.write(BUDGETS, text + "allow %s 6: a writer of scripts\n" % LINES)
    rc, said = repository.lint()
    assert rc == 0, said


def test_an_allow_line_without_a_reason_fails(repository):
    repository.budget(3, "allow %s 5:" % LINES)
    rc, text = repository.lint()
    assert rc == 1 and "neither" in text, text


def test_lower_writes_the_figures_of_today_and_the_allow_lines_that_are_needed(repository):
    allow = "allow %s %d: a reader of scripts\n"
    repository.grow(5)
    repository.budget(9, "allow %s 9: a reader of scripts" % LINES)
    repository.commit("build")
    assert repository.lint("--lower")[0] == 0
    text = (repository.top / BUDGETS).read_text()
    assert "     3 %s\n" % LINES in text and allow % (LINES, 5) in text
    assert "     0 modules in circles\n" in text
    assert repository.lint()[0] == 0
    repository.grow(2)
    repository.lint("--lower")
    text = (repository.top / BUDGETS).read_text()
    assert "     2 %s\n" % LINES in text and "allow" not in text.split("\n", 1)[1]


def test_a_budget_that_is_gone_needs_an_allow_line(repository):
    repository.write("testing/lint/rooms", "base/text 2\nengine 9\nall 100\n")
    text = (repository.top / BUDGETS).read_text().replace(LINES, "lines of base/text")
    repository.write(BUDGETS, text)
    rc, said = repository.lint()
    assert rc == 1 and "%s: the budget is gone" % LINES in said, said
    repository.write(BUDGETS, text + "allow %s 0: its only folder is the room\n" % LINES)
    rc, said = repository.lint()
    assert rc == 0, said


def test_a_figure_without_a_budget_fails(repository):
    repository.write("testing/lint/rooms", "base/* 2\nengine 9\npar/* 3\nall 100\n")
    rc, text = repository.lint()
    assert rc == 1 and "lines of par/*: no budget" in text, text


def test_a_folder_in_two_rooms_fails(repository):
    repository.write("testing/lint/rooms", "base/* 2\nbase/text 9\nengine 3\nall 100\n")
    rc, text = repository.lint()
    assert rc == 1 and "src/base/text is in two rooms" in text, text


@pytest.mark.parametrize("call", ["return up(n);", "return take(n, up);"])
def test_a_call_that_goes_up_the_floors_fails(repository, call):
    repository.write("src/base/text/one.c", "int up(int n)\n{\n    return down(n) + beside(n);\n}\n")
    repository.write("src/base/text/low.c", "int down(int n)\n{\n    /* not up(n) */\n    return n;\n}\n")
    repository.write("src/base/text/beside.c", "int beside(int n)\n{\n    return down(n);\n}\n")
    repository.write("testing/lint/floors", "base/text:\none beside\nlow\n")
    repository.budget(3, "allow %s 50: three modules" % LINES)
    rc, text = repository.lint()
    assert rc == 0, text
    repository.write("src/base/text/low.c", "int down(int n)\n{\n    %s\n}\n" % call)
    rc, text = repository.lint()
    assert rc == 1 and "base/text/low: a call goes up the floors: up of one" in text, text


def test_a_module_without_a_floor_and_a_floor_without_one_fail(repository):
    repository.write("testing/lint/floors", "base/text:\ntwo\n")
    rc, text = repository.lint()
    assert rc == 1 and "base/text/one: on no floor" in text and "base/text/two: a floor has it" in text, text


def test_without_git_figures_are_compared_with_the_file(repository):
    shutil.rmtree(repository.top / ".git")
    repository.grow(5)
    repository.budget(5)
    rc, text = repository.lint()
    assert rc == 0, text
    repository.grow(6)
    rc, text = repository.lint()
    assert rc == 1 and "%s: 6, and 5 are allowed" % LINES in text, text


def test_a_tarball_below_another_checkout_has_no_history(repository):
    below = Repository(repository.top / "below")
    shutil.rmtree(below.top / ".git")
    below.grow(5)
    below.budget(5)
    rc, text = below.lint()
    assert rc == 0, text


def test_a_shallow_clone_says_so(repository, tmp_path_factory):
    repository.grow(2)
    repository.budget(2)
    repository.commit("lower")
    top = tmp_path_factory.mktemp("clone") / "shallow"
    repository.git("clone", "-q", "--depth=1", "file://%s" % repository.top, str(top))
    shallow = object.__new__(Repository)
    shallow.top = top
    rc, text = shallow.lint()
    assert rc == 77 and "skipped: this is a shallow clone" in text, text
    shallow.grow(3)
    shallow.budget(3)
    rc, text = shallow.lint()
    assert rc == 1 and "raised from 2 to 3" in text, text


def test_a_history_that_git_does_not_read_is_named(repository):
    shutil.rmtree(repository.top / ".git")
    repository.write(".git", "gitdir: nowhere\n")
    rc, text = repository.lint()
    assert rc == 77 and "skipped: git has no history here: " in text, text
