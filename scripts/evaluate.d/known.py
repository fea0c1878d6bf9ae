#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what Locus says of programs that know the truth: numbers of small objects, names of arrays, findings, NUMA nodes.

known.py [--only KIND]... [--json FILE]

estimates: tests/workloads/SampledSites.java counts what its sites allocate, and the report estimates it. names: Names.java
stores arrays as Names.json says. findings: Findings.java has in each mode the finding that Findings.json says, and in the mode
"calm" none. calm: Calm.java has twenty programs without a problem. nodes: NumaPlacement.java in an emulated machine of two nodes, which counts the CPU time of its remote loops.
Shares, and classes of objects, are measured by scripts/evaluate.py. If Locus is wrong here, the tests fail. A
program that fails is named, its kind is left out for its JDK, and the exit status is 1.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests/e2e")]

import oracles
from jdks import jdks

BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve()
LOCUS = BUILD / "locus"
GUEST = ROOT / "scripts/numa-guest"
COLLECTORS = ("Serial", "Parallel", "G1")
INTERVALS = {"512k": 1500, "16k": 150}  # MiB that each of two threads allocates
COMPILED, INTERPRETED = 12000, 40  # rounds of Names
FINDINGS_SECONDS, CALM_SECONDS = 2.5, 2
MODES = {"master": 4, "parallel": 2, "interleaved": 8, "gc": 3}  # of NumaPlacement, and the seconds of a phase
GUEST_SECONDS = 400


def output(words):
    return subprocess.run([str(w) for w in words], check=True, stdout=subprocess.PIPE, text=True).stdout


def compiled(home, name, work):
    """The directory of the classes of the workloads that begin so, which a JDK has compiled."""
    directory = work / home.name / name
    directory.mkdir(parents=True, exist_ok=True)
    output([home / "bin/javac", "-g", "-d", directory, *sorted(oracles.WORKLOADS.glob(name + "*.java"))])
    return directory


def recorded(java, work, *options, report=()):
    """(what a Java command printed last, the report of its profile)."""
    profile = work / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    told = output([LOCUS, "run", "-q", "-o", profile, *options, "--", *java])
    return told.splitlines()[-1], json.loads(output([LOCUS, "report", "--format=json", *report, profile]))


def estimate_of(report, method):
    """(objects, half of the interval) of what a method of SampledSites allocates."""
    return oracles.total_of(oracles.estimates_of(report, method))


def estimates(version, home, work):
    classes = compiled(home, "SampledSites", work)
    for collector in COLLECTORS:
        for interval, mib in INTERVALS.items():
            java = [home / "bin/java", "-Xmx512m", "-Xmn64m", "-XX:+Use%sGC" % collector, "-cp", classes, "SampledSites", "counts", 2, mib]
            told, report = recorded(java, work, "--sample-interval=" + interval, report=["--top=1000"])
            errors, within = [], 0
            for method, true in json.loads(told).items():
                objects, half = estimate_of(report, method)
                errors.append(abs(objects / true - 1))
                within += abs(objects - true) <= half
            yield {"jdk": version, "collector": collector, "interval": interval, "sites": len(errors), "within": within,
                   "median_error": statistics.median(errors), "largest_error": max(errors)}


def names(version, home, work):
    classes = compiled(home, "Names", work)
    for rounds in (INTERPRETED, COMPILED):
        java = [home / "bin/java", "-Xmx512m", "-cp", classes, "Names", rounds]
        _, report = recorded(java, work, "--sample-interval=0", report=["--top=1000"])
        found = oracles.names_by_pattern(report)
        told = [(found.get((p["method"], p["class"]), set()), tuple(map(tuple, p["names"]))) for p in oracles.NAMES]
        yield {"jdk": version, "compiled": rounds == COMPILED, "patterns": len(told),
               "right": sum(said == {true} for said, true in told),
               "none": sum(not any(said) for said, _ in told)}


def findings(version, home, work):
    classes = compiled(home, "Findings", work)
    reports = {}
    for mode in dict.fromkeys([*(of["mode"] for of in oracles.FINDINGS), "calm"]):
        java = [home / "bin/java", "-Xmx2g", "-cp", classes, "Findings", mode, FINDINGS_SECONDS]
        reports[mode] = recorded(java, work)[1]
    told = [(oracles.kinds_of(reports[of["mode"]], of["site"]), of["kind"]) for of in oracles.FINDINGS]
    yield {"jdk": version, "of": len(told), "right": sum(said == {kind} for said, kind in told),
           "other": sum(bool(said - {kind}) for said, kind in told), "calm": len(reports["calm"]["findings"])}


def calm(version, home, work):
    java = [home / "bin/java", "-Xmx256m", "-cp", compiled(home, "Calm", work), "Calm"]
    for mode in output(java).split():
        report = recorded([*java, mode, CALM_SECONDS], work)[1]
        yield {"jdk": version, "mode": mode, "samples": report["samples"]["total"], "findings": [f["kind"] for f in report["findings"]]}


def guest_script(classes, library, out):
    """Shell code that profiles each mode of NumaPlacement, one after the other: booting takes longer than they do."""
    lines = ["mkdir -p %s && cd %s" % ((shlex.quote(str(out)),) * 2)]
    for mode, seconds in MODES.items():
        java = oracles.numa_placement(classes, library, mode, seconds, java=["-XX:-TieredCompilation"])
        words = [*(["numactl", "--interleave=all"] if mode == "interleaved" else []), "locus", "run", "-q", "-o", mode,
                 "--event=timer", "--event=fault", "--interval=1ms", "--", *java]
        lines.append("%s >%s.out" % (shlex.join(words), mode))
    return "\n".join(lines)


def nodes(version, home, work):
    check = subprocess.run([GUEST, "--check"], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check.returncode:
        yield {"jdk": version, "skipped": check.stdout.strip()}
        return
    classes, out = compiled(home, "Numa", work), work / "guest"
    library = classes / "libnuma_native.so"
    output(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-isystem", home / "include", "-isystem", home / "include/linux",
            "-o", library, ROOT / "tests/tools/numa_native.c"])
    output([GUEST, "--nodes", 2, "--timeout", GUEST_SECONDS, "--huge-pages=never", "--share", classes, "--out", out, "--jdk", home, "--",
            "sh", "-c", guest_script(classes, library, out)])
    for mode in MODES:
        told = json.loads((out / (mode + ".out")).read_text().splitlines()[-1])
        report = json.loads(output([LOCUS, "numa", "--format=json", out / mode]))["numa"]
        end = "(NumaPlacement.java:%d)" % oracles.marked_lines("NumaPlacement", "site")[mode]
        (site,) = [s for s in report["sites"] if (s["diagnosis"]["allocation_line"] or "").endswith(end)]
        yield {"jdk": version, "mode": mode, "samples": site["known"], "true": oracles.time_truth(told), "remote": site["remote_share"]}


KINDS = {"estimates": estimates, "names": names, "findings": findings, "calm": calm, "nodes": nodes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", action="append", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures here")
    options = parser.parse_args()
    told, failures = {}, 0
    with tempfile.TemporaryDirectory(prefix="locus-known-") as directory:
        for kind in options.only or KINDS:
            for version, home in jdks():
                try:
                    rows = list(KINDS[kind](version, home, pathlib.Path(directory)))
                except subprocess.CalledProcessError as failure:
                    print("known.py: left out: %s with JDK %d: %s" % (kind, version, failure), file=sys.stderr, flush=True)
                    failures += 1
                    continue
                told.setdefault(kind, []).extend(rows)
                for row in rows:
                    print(kind, json.dumps(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
