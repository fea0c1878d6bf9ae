# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests over tests/workloads/: commands, truths, and questions to a report."""

import base64
import collections
import contextlib
import fcntl
import itertools
import json
import math
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import time
import zlib

import pytest
from conftest import BUILD, EXPORTS, WORKLOADS
from oracles import has_frame, marked_lines  # noqa: F401 (tests have both from here)

COLLECTORS = ("Serial", "Parallel", "G1")
TIERS = {
    "interpreted": ["-Xint"],
    "C1": ["-XX:TieredStopAtLevel=1"],
    "C2": ["-XX:-TieredCompilation", "-Xbatch"],
    "tiered": [],
}
# Without this budget, a busy machine makes sampling expensive, intervals long and samples few.
EACH_TICK = ("--interval=4ms", "--budget=none")
UNEXPLAINED = 0.03  # of the samples in Java code, at most
CHANCE = 0.001  # that a test of a part of the samples fails although the part is as it must be
BUCKETS = ("object", "heap_class", "heap_unknown", "jvm", "native", "no_address", "lost")


# Cases


def label(axis, value):
    """The name of a case's value in pytest: a JDK by its version, a list by its words."""
    if isinstance(value, (list, tuple)):
        return "".join(map(str, value)).lstrip("-") or "default"
    return "jdk%d" % value if axis == "jdk" else str(value)


def covering(cases):
    """Some of the cases, which have each pair of values that all of them together have."""

    def pairs(case):
        return set(itertools.combinations(enumerate(case), 2))

    missing, chosen = set().union(*map(pairs, cases)), []
    while missing:
        chosen.append(max(cases, key=lambda case: len(pairs(case) & missing)))  # the first of the best
        missing -= pairs(chosen[-1])
    return chosen


def spread(cases):
    """Some of the cases, which have each value that all of them together have, and each about as often."""
    missing, chosen = {value for case in cases for value in enumerate(case)}, []
    while missing:
        used = collections.Counter(value for case in chosen for value in enumerate(case))
        chosen.append(max(cases, key=lambda case: (len(set(enumerate(case)) & missing), -sum(used[v] for v in enumerate(case)))))
        missing -= set(enumerate(chosen[-1]))
    return chosen


def each_pair(possible=lambda **values: True, choose=covering, **axes):
    """Parametrizes a test: each value of an axis meets each value of every other in some case.

    The other combinations are marked slow, so that `make soak` runs all. The axis `jdk` has major
    versions, and gives the test that fixture. `possible` is asked whether a combination exists.
    """
    names = sorted(axes, key=lambda name: name != "jdk")
    axes = {name: [tuple(v) if isinstance(v, list) else v for v in axes[name]] for name in names}
    cases = list(itertools.product(*(axes[name] for name in names)))
    cases = [case for case in cases if possible(**dict(zip(names, case)))]
    chosen = choose(cases)
    params = [
        pytest.param(
            *case,
            id="-".join(map(label, names, case)),
            marks=() if case in chosen else pytest.mark.slow,
        )
        for case in cases
    ]
    return pytest.mark.parametrize(names, params, indirect=["jdk"] if "jdk" in axes else [])


def each_value(possible=lambda **values: True, **axes):
    """Like each_pair, for tests that take long: each value of each axis is in some case."""
    return each_pair(possible, choose=spread, **axes)


# Programs


def command(workload, jdk, name, *args, java=(), jars=()):
    """The command that runs tests/workloads/NAME.java with `jars` on its class path."""
    flags = ["-cp", os.pathsep.join(map(str, jars))] if jars else []
    path = os.pathsep.join(map(str, [workload(jdk, name, flags), *jars]))
    return [jdk.java, *EXPORTS, *java, "-cp", path, name, *map(str, args)]


@contextlib.contextmanager
def waiting_programs(workload, directory):
    """Gives start(jdk, name, *args, java=...), which returns a process that has said "ready" and waits for its input."""
    started = []

    def start(jdk, name, *args, java=()):
        p = subprocess.Popen(command(workload, jdk, name, *args, java=["-Xmx256m", *java]), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=directory)
        started.append(p)
        assert p.stdout.readline() == "ready\n"
        return p

    yield start
    for p in started:
        p.kill()
        p.communicate()


def collector(name, region=None):
    """JVM options for a collector; `region` is G1's region size."""
    return ["-XX:+Use%sGC" % name, *(["-XX:G1HeapRegionSize=" + region] if name == "G1" and region else [])]


def native_library(jdk, name, directory):
    """tests/workloads/native/NAME.c as a shared library; None without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        return None
    out = pathlib.Path(directory) / ("lib%s.so" % name)
    include = jdk.home / "include"
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC", "-I", include]
        + ["-I", include / "linux", "-o", out, WORKLOADS / "native" / (name + ".c")],
        check=True,
        timeout=300,
    )
    return out


def maven(coordinates):
    """A jar from Maven Central, "group:artifact:version[:jar:classifier]"; else the test is skipped.

    Maven's own copy is taken if there is one, since Maven needs seconds to find it.
    """
    parts = coordinates.split(":")
    jar = BUILD / "jars" / ("-".join([parts[1], parts[2], *parts[4:]]) + ".jar")
    own = pathlib.Path.home().joinpath(".m2/repository", *parts[0].split("."), parts[1], parts[2], jar.name)
    jar.parent.mkdir(exist_ok=True)
    with open(jar.parent / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists() and own.is_file():
            copy = jar.with_name(jar.name + ".tmp")
            shutil.copyfile(own, copy)
            copy.rename(jar)
        elif not jar.exists():
            fetch(coordinates, jar)
    return jar


def fetch(coordinates, jar):
    if not shutil.which("mvn"):
        pytest.skip("no mvn to fetch %s with" % coordinates)
    copy = ["mvn", "-q", "-B", "dependency:copy", "-Dartifact=" + coordinates]
    done = execute([*copy, "-DoutputDirectory=%s" % jar.parent], timeout=300)
    if done.returncode != 0 or not jar.exists():
        pytest.skip("Maven Central gave no %s" % coordinates)


def npm(name, version):
    """The directory of a package from npm's registry; else the test is skipped."""
    root = BUILD / "npm" / ("%s-%s" % (name, version))
    root.mkdir(parents=True, exist_ok=True)
    found = root / "node_modules" / name
    with open(root / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (found / "package.json").exists():
            if not shutil.which("npm"):
                pytest.skip("no npm to fetch %s with" % name)
            install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", str(root)]
            done = execute([*install, "%s@%s" % (name, version)], timeout=300)
            if done.returncode != 0 or not (found / "package.json").exists():
                pytest.skip("npm gave no %s %s" % (name, version))
    return found


def truth(run):
    """The program's last output: one line of JSON."""
    return json.loads(run.stdout.splitlines()[-1])


def by_hand(java_command, directory, *options):
    """The command that profiles a java command without the tool."""
    agent = ",".join(["output=%s" % directory, *options])
    return [java_command[0], "-agentpath:%s=%s" % (BUILD / "liblocus.so", agent), *java_command[1:]]


def execute(line, stdin=b"", timeout=300, env=None):
    """Run a command to its end, in bytes; past `timeout` all that it started is killed."""
    process = subprocess.Popen(
        [str(word) for word in line],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return subprocess.CompletedProcess(line, process.returncode, out, err)


def complaints(stderr):
    """Locus's own lines on stderr, but for the notice of the first measurement of spans on a machine."""
    text = stderr if isinstance(stderr, str) else stderr.decode("utf-8", "replace")
    return [line for line in text.splitlines()
            if line.startswith("locus") and "measuring the cost of a span once" not in line]


def wait_until(what, condition, seconds=180):
    """Waits until `condition()`; fails if that takes longer."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "in %g s: not %s" % (seconds, what)
        time.sleep(0.02)


# Reports


def check_report(r):
    """Invariants of every report: parts sum to their whole, numbers are unique, paths exist."""
    samples = r["samples"]
    assert r["format"] == 1
    assert sum(samples[b] for b in BUCKETS) == samples["total"], samples
    assert sum(s["samples"] for s in r["sites"]) == samples["object"], samples
    assert sum(t["samples"] for t in r["threads"]) == samples["total"], samples
    assert len({s["id"] for s in r["sites"]}) == len(r["sites"])
    for s in r["sites"]:
        assert sum(a["samples"] for a in s["accesses"]) == s["samples"], s
        assert abs(s["share"] - s["samples"] / max(1, samples["total"])) < 0.001, s
        assert s["allocation_path"], s
    return r


def binomial_at_least(count, n, p):
    """How likely at least `count` of n observations are such that each is with probability p."""
    terms = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log(1 - p)
             for k in range(count, n + 1))
    return min(1, sum(map(math.exp, terms)))


def is_part_of(r, some, whole, most):
    """May at most this part of all samples be such, where `some` of `whole` samples are? Fewer than samples are independent."""
    independent = r["observations"]["effective"] / max(1, r["samples"]["total"])
    return binomial_at_least(math.ceil(some * independent), math.ceil(whole * independent), most) > CHANCE


def check_explained(r):
    """Few samples are neither at an object, nor at a class, nor known to be outside the heap."""
    where, samples = r["details"]["where"], r["samples"]
    unexplained = samples["no_address"] + samples["heap_unknown"]
    in_java = where["compiled"] + where["stub"]
    assert is_part_of(r, unexplained, in_java, UNEXPLAINED), (unexplained, in_java, r["observations"], samples, r["details"])


def check_agreement(run, least=1):
    """If the map and an object's own header both knew the object, they agreed."""
    c = counters(run)
    assert c["class_disagreements"] == 0, c
    assert c["classes_checked"] >= least, c


def report(profile, *options):
    return check_report(profile.report(*options))


def sites_through(r, method, cls=None, line=None):
    """Sites whose allocation path goes through a method (of a class, at a line)."""
    return [s for s in r["sites"] if has_frame(s["allocation_path"], method, cls, line)]


def share_through(r, method, cls=None):
    """Part of all samples that touched objects allocated through a method."""
    return sum(s["samples"] for s in sites_through(r, method, cls)) / r["samples"]["total"]


def allocations(sites):
    return sum(s["allocations"] for s in sites)


def table(header, rows):
    """Text for the message of a failed assertion."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    return "\n".join(
        "  ".join(str(c).rjust(w) for c, w in zip(row, widths)) for row in [header, *rows]
    )


def counters(profile):
    """The agent's counters, from the manifest."""
    return profile.manifest()["processes"][0]["counters"]


def hits(c, *others):
    """Accesses to what is watched: those that were counted, and those whose cause a virtual CPU lost."""
    return sum(c.get("engine_watch_%scounted" % other, 0) for other in ("", *others)) + c["engine_traps_causeless"]


# Pages


def page_text(html):
    """The data of a page, which stand in it compressed, as text."""
    start = html.index('id="data">') + len('id="data">')
    return zlib.decompress(base64.b64decode(html[start:html.index("</script>", start)])).decode()


def page_data(html):
    return json.loads(page_text(html))


def read_terminal(main):
    """All that is written to the other side of a terminal, until that is closed."""
    got = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            return got
        if not piece:
            return got
        got += piece


def on_a_terminal(*words, status=0):
    """The output of a command on a terminal."""
    main, side = pty.openpty()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=side) as process:
        os.close(side)
        said = read_terminal(main)
        assert process.wait(300) == status
    os.close(main)
    return said.decode()


def with_script(page, script):
    """Let a page run a script, which may wait, when it has drawn itself; open_page() returns after it."""
    page.write_text(page.read_text().replace("</body>", """<script>(async function () {
        const root = document.documentElement, wait = (ms) => new Promise((done) => setTimeout(done, ms));
        while (!root.dataset.ready)
            await wait(10);
        %s
        root.dataset.scripted = true;
        })();</script></body>""" % script))


SCRIPTED = """new Promise((done) => (function look() {
    if (document.documentElement.dataset.scripted)
        done(null);
    else
        setTimeout(look, 10);
    })())"""


def open_page(browser, page, state="", **window):
    """The document after its script ran, as text."""
    opened = browser.page(page, state, **{"width": 1400, "height": 900, **window})
    if "root.dataset.scripted = true" in pathlib.Path(page).read_text(encoding="utf-8"):
        opened.evaluate(SCRIPTED)
    return opened.document()
