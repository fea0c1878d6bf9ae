#!/usr/bin/env python3
"""Measure what Locus costs: run whole commands in turn without and with it, in one session.

bench.py [--pairs N] [--only NAME]... [--locus=OPTION]... [MICRO_BENCHMARK]...

For each workload: medians of both, the median of the pairs' ratios and the range in which the
middle half of them lies, and the target. Every other pair runs in the opposite order, so that a
drift of the machine does not favour one side. Then each micro-benchmark is run and its output shown.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOCUS = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "locus"
SOURCES = ("org.apache.lucene", "lucene-core", "9.12.0")
HEAP = ["-Xmx1g"]

# name, class and arguments (None: javac over SOURCES), what has a target ("all": every object is tracked)
WORKLOADS = (
    ("alloc-loop", ["AllocLoop", "12"], "time"),
    ("min-size 0", ["ObjectLoop", "200"], "all"),
    ("recursion", ["TreeLoop", "50"], "all"),
    ("javac", None, "time"),
    ("pointer-chase", ["PointerChase", "20"], "time"),
    ("parallel-sort", ["ParallelSort", "4"], "time"),
    ("hello", ["Hello"], "start"),
)


class Run:
    def __init__(self, seconds, cpu, rss_kb, pause_ms):
        self.seconds = seconds
        self.cpu = cpu
        self.rss_mb = rss_kb / 1024
        self.pause_ms = pause_ms


def find_jdk():
    return subprocess.run(
        [ROOT / "scripts" / "find-jdk"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def fetch_sources(work):
    """The Java sources that the javac workload compiles; from the local Maven repository or the net."""
    group, name, version = SOURCES
    jar = (
        pathlib.Path.home() / ".m2/repository" / group.replace(".", "/") / name / version
        / ("%s-%s-sources.jar" % (name, version))
    )
    if not jar.exists():
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:get", "-Dtransitive=false",
             "-Dartifact=%s:%s:%s:jar:sources" % SOURCES],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    shutil.unpack_archive(jar, work / "src", "zip")
    files = [str(p) for p in (work / "src" / "org").rglob("*.java")]
    (work / "files").write_text("\n".join(files))
    return len(files)


def pauses_ms(log):
    """Sum of the stop-the-world pauses in a log of -Xlog:gc."""
    return sum(float(ms) for ms in re.findall(r"Pause .* ([0-9.]+)ms$", log.read_text(), re.M))


def run_once(command, log):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit("bench: %s\nended with %d\n%s" % (command, status, errors.decode()))
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, pauses_ms(log))


def command_of(arguments, jdk, work, log):
    java = [jdk + "/bin/java", *HEAP, "-Xlog:gc:file=%s" % log]
    if arguments is None:
        return [*java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-nowarn",
                "-d", str(work / "out"), "@%s" % (work / "files")]
    return [*java, "-cp", str(work / "classes"), *arguments]


def measure(arguments, jdk, work, pairs, options):
    """Returns `pairs` pairs (without, with), after one run of each that is thrown away."""
    log = work / "gc.log"
    plain = command_of(arguments, jdk, work, log)
    profile = work / "profile"
    result = []

    def without():
        return run_once(plain, log)

    def with_locus():
        shutil.rmtree(profile, ignore_errors=True)
        return run_once([str(LOCUS), "run", "-o", str(profile), *options, "--", *plain], log)

    without(), with_locus()
    for i in range(pairs):
        if i % 2:
            second = with_locus()
            result.append((without(), second))
        else:
            first = without()
            result.append((first, with_locus()))
    return result


def spread(values):
    low, _, high = statistics.quantiles(values, n=4)
    return statistics.median(values), low, high


def row(name, unit, before, after, value, low, high, target, met):
    print(
        "%-14s %-9s %9.3f %9.3f  %8.3f [%.3f .. %.3f]  %-24s %s"
        % (name, unit, before, after, value, low, high, target, "met" if met else "NOT met")
    )


def show(name, kind, pairs):
    def medians(field):
        return [statistics.median(getattr(p[side], field) for p in pairs) for side in (0, 1)]

    seconds = medians("seconds")
    if kind == "start":
        value, low, high = spread([(b.seconds - a.seconds) * 1000 for a, b in pairs])
        row(name, "start ms", seconds[0] * 1000, seconds[1] * 1000, value, low, high,
            "difference <= 200", value <= 200)
    else:
        value, low, high = spread([b.seconds / a.seconds for a, b in pairs])
        limit = 1.3 if kind == "all" else 1.03
        row(name, "time s", *seconds, value, low, high, "ratio <= %.2f" % limit, value <= limit)
    rss = medians("rss_mb")
    allowed = max(0.05 * rss[0], 48)
    value, low, high = spread([b.rss_mb - a.rss_mb for a, b in pairs])
    row(name, "RSS MB", *rss, value, low, high, "difference <= %.0f" % allowed, value <= allowed)
    pause = medians("pause_ms")
    if pause[0] > 0:
        value, low, high = spread([b.pause_ms / a.pause_ms for a, b in pairs if a.pause_ms > 0])
        row(name, "pauses ms", *pause, value, low, high, "ratio <= 1.02", value <= 1.02)


def show_unit_costs(pairs, profile):
    """What one sample and one recorded allocation cost, from the last profile of a workload."""
    counters = json.loads((profile / "manifest.json").read_text())["processes"][0]["counters"]
    if counters["engine_timer_samples"] >= 100:
        print("%14s %.1f us in the handler for each of %d samples" % (
            "", counters["engine_handler_us"] / counters["engine_timer_samples"], counters["engine_timer_samples"]))
    if counters["alloc_records"] >= 1_000_000:
        cpu = statistics.median(b.cpu - a.cpu for a, b in pairs)
        print("%14s %.1f ns of CPU time for each of %d allocations, all of Locus included" % (
            "", 1e9 * cpu / counters["alloc_records"], counters["alloc_records"]))


def main():
    parser = argparse.ArgumentParser(description="what Locus costs")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", action="append", choices=[w[0] for w in WORKLOADS])
    parser.add_argument("--locus", action="append", default=[], help="an option for locus run")
    parser.add_argument("micro", nargs="*")
    args = parser.parse_args()
    if args.pairs < 2:
        parser.error("--pairs: at least 2")

    jdk = find_jdk()
    work = pathlib.Path(tempfile.mkdtemp(prefix="locus-bench-"))
    try:
        wanted = [w for w in WORKLOADS if not args.only or w[0] in args.only]
        sources = sorted(str(p) for p in (ROOT / "tests/workloads/bench").glob("*.java"))
        subprocess.run([jdk + "/bin/javac", "-d", work / "classes", *sources], check=True)
        note = ""
        if any(w[1] is None for w in wanted):
            note = "; javac compiles %d files of %s %s" % (fetch_sources(work), *SOURCES[1:])
        print("%s, %d CPUs, load %.2f, %d pairs%s" % (jdk, os.cpu_count(), os.getloadavg()[0],
                                                      args.pairs, note))
        print("%-14s %-9s %9s %9s  %-27s %-24s" % ("workload", "", "without", "with",
                                                   "difference or ratio", "target"))
        for name, arguments, kind in wanted:
            every = ["--min-size=0"] if kind == "all" else []
            pairs = measure(arguments, jdk, work, args.pairs, every + args.locus)
            show(name, kind, pairs)
            show_unit_costs(pairs, work / "profile")
            sys.stdout.flush()
        for micro in args.micro:
            print("\n%s" % pathlib.Path(micro).name, flush=True)
            subprocess.run([micro], check=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
