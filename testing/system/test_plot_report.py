# SPDX-License-Identifier: BSD-3-Clause
"""weir-plot: the page of a report in a browser, the script where it is installed, and its manual page."""
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import time

import pytest

import conftest
import plot_support
from plot_support import plot  # noqa: F401 (it is a fixture)

LOOK = """(() => ({
  title: document.title,
  links: document.querySelector('nav').offsetHeight > 0,
  text: document.body.innerText,
  wide: Array.from(document.querySelectorAll('body *')).filter(e => !e.closest('svg, .wide, .picture')).map(e => [e.tagName, e.className, e.getBoundingClientRect().right])
    .filter(e => e[2] > document.documentElement.clientWidth + 1).map(e => e.join(' ')),
  pictures: Array.from(document.querySelectorAll('figure svg, figure img'), i => ({ whole: i.tagName == 'svg' || i.naturalWidth > 100,
    width: i.getBoundingClientRect().width, alt: i.alt || i.getAttribute('aria-label'), titles: i.querySelectorAll('title').length })),
  heads: Array.from(document.querySelectorAll('h1, .verdict, pre, figure, table'), e => e.tagName.replace('DIV', 'VERDICT')),
  names: Array.from(document.querySelectorAll('th, summary'), e => e.textContent),
  cells: Array.from(document.querySelectorAll('table.stack td'), e => [getComputedStyle(e).display, e.scrollWidth - e.clientWidth]),
  sources: Array.from(document.querySelectorAll('[src],link[href]'), e => (e.src || e.href).slice(0, 5)),
}))()"""


class Browser:
    """Chromium without a window, spoken to through pipes in the protocol of its developer tools."""

    def __init__(self, program, folder):
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()

        def give_pipes():
            read, write = os.dup(to_read), os.dup(to_write)  # neither is then 3 or 4
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--user-data-dir=%s" % folder, "--window-size=1200,900", "--remote-debugging-pipe",
             "about:blank"],
            close_fds=False, preexec_fn=give_pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.events = 0, b"", []

    def receive(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.from_browser], [], [], max(until - time.monotonic(), 0))
            assert ready, "the browser does not answer"
            part = os.read(self.from_browser, 1 << 16)
            assert part, "the browser ended"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **parameters):
        """The result of a command; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        message.update({"sessionId": session} if session else {})
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        until = time.monotonic() + 60
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.receive(until))

    def close(self):
        conftest.kill_all(self.process)
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)


@pytest.fixture
def browser(tmp_path):
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("no chromium (Debian: chromium)")
    started = Browser(program, tmp_path / "profile")
    yield started
    started.close()


def row(operation, **numbers):
    return dict({"operation": operation, "call": operation, "count": 100, "mean": 1e-4, "p50": 1e-4, "p90": 2e-4, "p99": 1e-3,
                 "p999": 2e-3, "max": 3e-3}, **numbers)


def results(tmp_path):
    """A result of ior with a timeline, warnings and findings, one of mdtest that failed, and one without a test."""
    plot_support.write(tmp_path / "tl", ranks=4, calls=50, repetitions=2)
    ior = {"program": "ior", "Version": "4.1.0+weir", "Began": "then", "Command line": "ior -t 1m -b 50m <&\"'> -O x=1",
           "Machine": "Linux <b>node</b>", "provenance": {"tasks": 4, "nodes": 2, "mpi": "Open MPI", "hosts": "node[1-2]", "environment": {"kernel": "6.1", "governor": ""}},
           "status": 0, "error": "", "warnings": ["the <script>alert(1)</script> clock is coarse"], "notes": ["a note of the run"],
           "summary": [{"operation": "write", "bwMaxMIB": 300.25, "bwMeanMIB": 299.5, "numTasks": 4}],
           "findings": [{"id": "H35", "severity": "NOTE", "measured": 1, "remedy": "more nodes"},
                        {"id": "H01", "severity": "SUSPECT", "measured": 0.5, "limit": 1.0, "remedy": "measure longer"},
                        {"id": "H02", "outcome": "fine", "text": "enough data"}],
           "tests": [{"TestID": 0, "optionValues": {"transfer-size": 2 ** 20, "timeline": "tl.npy", "api": "POSIX"},
                      "warnings": [], "notes": ["a note of the test"], "provenance": {"mount": "/", "fileSystem": "ext4", "mountOptions": "rw"},
                      "verdict": "SUSPECT", "rules": "default",
                      "Results": [{"access": a, "bwMiB": r, "iter": i} for i in (0, 1) for a, r in (("write", 299.), ("read", 900.))]}]}
    md = {"program": "mdtest", "status": 3, "error": "stat 'x': Input/output error", "Command line": "mdtest -n 50",
          "provenance": {"tasks": 1}, "tests": [{"TestID": 0, "Parameters": {"items": 50}, "latency": [row("File stat"), row("mkdir")],
                                                 "Results": [{"operation": "File stat", "rate": 1e5, "iter": 0},
                                                             {"operation": "Tree removal", "rate": None, "iter": 0}]}]}
    for name, document in (("ior.json", ior), ("md.json", md), ("none.json", {"program": "ior", "status": 2, "error": "bad option"})):
        (tmp_path / name).write_text(json.dumps(document))


@pytest.mark.slow
def test_a_report_in_a_browser(plot, browser, tmp_path):
    results(tmp_path)
    plot("report", "ior.json", "md.json", "none.json", "-o", "r.html", "--title=For <you>").ok()
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    session = browser.ask("Target.attachToTarget", flatten=True, targetId=target)["sessionId"]
    for domain in ("Page", "Runtime", "Log", "Network"):
        browser.ask(domain + ".enable", session)
    screen = {"height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=1200, **screen)
    browser.ask("Page.navigate", session, url=(tmp_path / "r.html").as_uri())
    browser.wait_for("Page.loadEventFired")
    page = browser.ask("Runtime.evaluate", session, expression=LOOK, returnByValue=True)["result"]["value"]
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=400, **screen)
    phone = browser.ask("Runtime.evaluate", session, expression=LOOK, returnByValue=True)["result"]["value"]
    browser.ask("Emulation.setEmulatedMedia", session, media="print")
    browser.ask("Emulation.setDeviceMetricsOverride", session, width=690, **screen)  # A4
    paper = browser.ask("Runtime.evaluate", session, expression=LOOK, returnByValue=True)["result"]["value"]

    said = [e for e in browser.events if e["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
    assert not said, said
    asked = [e["params"]["request"]["url"] for e in browser.events if e["method"] == "Network.requestWillBeSent"]
    assert all(url.startswith(("data:", "file:")) for url in asked) and len([u for u in asked if u.startswith("file:")]) == 1, asked
    assert page["wide"] == [] and paper["wide"] == [], "it fits a window and a sheet"
    assert set(page["sources"]) <= {"data:"} and page["title"] == "For <you>"
    # ior: rates of the repetitions and six of the timeline; mdtest: rates and percentiles
    assert len(page["pictures"]) == 9, page["pictures"]
    assert all(p["whole"] and p["width"] > 600 and p["alt"] for p in page["pictures"]), page["pictures"]
    for words in ("mpirun -np 4 ior -t 1m -b 50m <&\"'> -O x=1", "the <script>alert(1)</script> clock is coarse", "a note of the run",
                  "a note of the test", "H01", "SUSPECT", "measure longer", "Linux <b>node</b>", "ext4", "status 3",
                  "Input/output error", "bad option", "nothing was measured", "100 \u00b5s", "mpirun -np 4"):
        assert words in page["text"], (words, page["text"])
    assert page["text"].index("measure longer") < page["text"].index("more nodes"), "by weight"
    assert "SUSPECT by the default rules" in page["text"] and "Pink is slow, red stands still" in page["text"]
    assert "scroll it sideways" not in page["text"] and phone["text"].count("scroll it sideways") == len(phone["pictures"])
    assert "mpirun -np 1" not in page["text"] and "Rules that found nothing" in page["text"] and "enough data" not in page["text"]
    assert page["links"] and not paper["links"], "what is printed"
    assert page["heads"][:5] == ["H1", "VERDICT", "PRE", "TABLE", "FIGURE"], page["heads"]
    assert page["text"].index("The numbers probably do not mean what they seem to mean.") < page["text"].index("900 MiB/s")
    assert not [n for n in page["names"] if re.search("[a-z][A-Z]|_", n.replace("MiB", ""))], page["names"]
    assert ": ," not in page["text"] and "governor" not in page["text"] and "mount options" in page["text"], page["text"]
    assert sum(p["titles"] for p in page["pictures"]) > 10
    assert {display for display, _ in page["cells"]} == {"table-cell"}
    assert phone["wide"] == [] and {display for display, _ in phone["cells"]} == {"block"} and max(c for _, c in phone["cells"]) <= 0
    assert all(p["width"] > 600 for p in phone["pictures"]), "they scroll"


def test_reports_of_what_has_little_to_tell(plot, tmp_path):
    results(tmp_path)
    plot("report", "none.json", "-o", "r.html").ok()
    assert plot.out == "r.html: written, 0 pictures\n"
    (tmp_path / "tl.npy").write_bytes(b"\x93NUMPY")
    plot("report", "ior.json", "-o", "r.html").ok()  # a spoilt timeline does not keep the rest from the reader
    assert "without the timeline of ior.json: tl.npy: not a NumPy file" in plot.out
    plot("report", "tl.npy", "-o", "s.html").refuses(1, "tl.npy")
    plot("report", "ior.json", "-o", "no/r.html").refuses(1, "no/r.html")
    mib = {"program": "mib", "tests": [{"TestID": 0, "Results": [{"operation": "write", "rate": 512.0, "calls": 8, "iter": 0}],
                                        "trials": [{"trial": 1, "storageThroughput": 1e9}]}]}
    (tmp_path / "mib.json").write_text(json.dumps(mib))
    plot("report", "mib.json", "-o", "m.html").ok()  # its rates are of bytes; tables that nobody announced are shown
    text = (tmp_path / "m.html").read_text()
    assert "storage throughput" in text and "Trials" in text and "512 MiB/s" in text
    from weir_plot import load
    rates = load.result("mib.json").rates(mib["tests"][0])
    assert [(r.operation, r.value, r.in_bytes) for r in rates] == [("write", 512.0 * 2 ** 20, True)]
    (tmp_path / "odd.json").write_text('{"program": "ior", "tests": [{"Results": 5}]}')
    plot("report", "odd.json", "-o", "s.html").refuses(1, "odd.json", "'Results'")
    assert not (tmp_path / "s.html").exists()


def test_links_and_what_is_no_ordinary_file_stay(plot, tmp_path):
    """A page that was renamed to /dev/null, as root, replaced the device."""
    results(tmp_path)
    (tmp_path / "page").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "page" / "r.html")
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True)
    plot("report", "none.json", "-o", "pipe").ok()
    assert reader.communicate(timeout=60)[0].endswith("</html>\n") and (tmp_path / "pipe").is_fifo()
    plot("report", "none.json", "-o", "link.html").ok()
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "page" / "r.html").read_text().endswith("</html>\n")
    assert os.listdir(tmp_path / "page") == ["r.html"]


# ---- the script ----

def run(script, *words, env=None):
    return subprocess.run([str(script), *words], capture_output=True, text=True, timeout=120, env=env)


def test_the_script_finds_its_modules_wherever_it_is(plot, tmp_path):
    source = conftest.SOURCE / "contrib" / "plot" / "weir-plot"
    assert "usage: weir-plot" in run(source, "--help").stdout
    (tmp_path / "link").symlink_to(source)
    assert run(tmp_path / "link", "--help").returncode == 0
    if not (conftest.BUILD / "Makefile").exists() or not shutil.which("make"):
        return
    for name in ("weir-plot", "weir-compare"):  # where make leaves them, which need not be the source tree
        said = run(conftest.BUILD / "src" / name, "--help")
        assert said.returncode == 0 and "usage: " + name in said.stdout, said
    parts = ["install-" + part for part in ("binSCRIPTS", "weirplotDATA", "data-local")]
    done = subprocess.run(["make", "-s", *parts, "prefix=/opt/w", "DESTDIR=%s" % tmp_path],
                          cwd=conftest.BUILD, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    script = tmp_path / "opt" / "w" / "bin" / "weir-plot"
    completion = tmp_path / "opt/w/share/bash-completion/completions/weir-plot"  # the name that bash looks for
    assert " weir-plot " in completion.read_text()
    said = run(script, "rate", "no.npy")
    assert said.returncode == 1 and said.stderr == "weir-plot: no.npy: No such file or directory\n", said
    alone = tmp_path / "weir-plot"
    shutil.copy(script, alone)
    text = alone.read_text()
    alone.write_text(re.sub(r'^(PLACES = .*)"[^"]*"\)$', r'\1"%s")' % (tmp_path / "opt/w/share/weir"), text, flags=re.M))
    assert alone.read_text() != text and run(alone, "--help").returncode == 0  # as configure's --datadir says
    alone.write_text(text)
    said = run(alone, "--help")
    assert said.returncode == 1 and said.stderr.startswith("weir-plot: its modules") and len(said.stderr.splitlines()) == 1, said


def test_help_and_completion_need_no_numpy(tmp_path):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError('taken away')\n")
    env = dict(os.environ, PYTHONPATH=str(tmp_path), WEIR_PLOT_PYTHON="no other")
    source = conftest.SOURCE / "contrib" / "plot" / "weir-plot"
    for words, status, text in ((["--help"], 0, "usage: weir-plot"), (["rate", "--help"], 0, "--outside-unit"),
                                (["--complete", "", "", ""], 0, "rate\t"), (["rat"], 2, "did you mean 'rate'"),
                                (["rate", "x.npy"], 1, "needs NumPy and matplotlib")):
        said = run(source, *words, env=env)
        assert said.returncode == status and text in said.stdout + said.stderr, (words, said)


def test_the_manual_page_has_every_command_and_option(plot):
    from weir_plot import cli
    page = (conftest.SOURCE / "doc" / "man" / "weir-plot.1.in").read_text().replace("\\-", "-")
    commands, options = set(), set()
    for name, _, _, names in cli.COMMANDS:
        commands.add(name)
        parser = cli.argparse.ArgumentParser()
        cli.add_options(parser, names)
        options |= {word for action in parser._actions for word in action.option_strings if word.startswith("--")}
    assert set(re.findall(r"^\.B ([a-z]+)$", page, re.M)) == commands
    section = page.split(".SH OPTIONS")[1].split(".SH EXIT")[0]
    assert set(re.findall(r"(--[a-z-]+)(?: =|\n)", section)) == options | {"--version"}


def test_a_program_writes_what_weir_plot_reads(plot, ior, tmp_path):
    """From the run to the page."""
    before = time.time()
    ior("-t 64k -b 1m -i 2 -C -e -o f --timeline=tl.npy --report=json:r.json", np=2).ok()
    for name in ("tl.npy", "tl.timeline.json", "r.json"):
        shutil.copy(ior.cwd / name, tmp_path / name)
    plot("report", "r.json", "-o", "r.html").ok()
    assert plot.out == "r.html: written, 7 pictures\n"
    epoch = json.loads((tmp_path / "tl.timeline.json").read_text())["tests"][0]["epoch"]
    assert before - 1 < epoch < time.time() + 1
    plot("spread", "tl.npy").ok()
    assert re.search(r"^write: 32 calls of 2 tasks", plot.out, re.M) and re.search(r"^read: 32 calls of 2 tasks", plot.out, re.M)
    assert pathlib.Path("tl-spread.svg").exists()
    shutil.copy("r.json", "tl.json")  # the old name of the document: now it may be that of a result
    plot("rate", "tl.timeline.json").ok()
    assert pathlib.Path("tl-rate.svg").exists()


@pytest.mark.slow
def test_ten_million_calls(plot, ior, tmp_path):
    """480 MB of records: mapped, not read, and the picture stays small."""
    run = ior("-a DUMMY -w -t 8 -b 80000000 --timeline=%s/t.npy --timeline-limit=10m" % tmp_path, np=None).ok()
    assert not [w for w in run.warnings if "too small for the" in w], run
    records = plot_support.np.load(tmp_path / "t.npy", mmap_mode="r")
    assert records.shape == (10 ** 7,) and int(records["bytes"].sum()) == 80000000 and records["offset"][-1] == 79999992
    plot("rate", str(tmp_path / "t.npy"), "-o", "t.svg").ok()
    assert pathlib.Path("t.svg").stat().st_size < 300e3
    del records
    os.unlink(tmp_path / "t.npy")
