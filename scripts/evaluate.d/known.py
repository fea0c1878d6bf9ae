#!/usr/bin/env python3
"""Measure what Locus says of programs that know the truth: numbers of small objects, names of arrays, findings, NUMA nodes.

known.py [--only KIND]... [--json FILE]

estimates: tests/workloads/SampledSites.java counts what its sites allocate, and the report estimates it. names: Names.java
stores arrays as Names.json says. findings: Findings.java has in each mode the finding that Findings.json says, and in the mode
"calm" none. nodes: NumaPlacement.java in an emulated machine of two nodes, which counts the CPU time of its remote loops.
Shares, and classes of objects, are measured by scripts/evaluate.py. Nothing here fails: the tests do that.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from jdks import jdks

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "tests/workloads"
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve()
LOCUS = BUILD / "locus"
GUEST = ROOT / "scripts/numa-guest"
COLLECTORS = ("Serial", "Parallel", "G1")
INTERVALS = {"512k": 1500, "16k": 150}  # MiB that each of two threads allocates
COMPILED, INTERPRETED = 12000, 40  # rounds of Names
FINDINGS_SECONDS = 2.5
MODES = {"master": 4, "parallel": 2, "interleaved": 8, "gc": 3}  # of NumaPlacement, and the seconds of a phase
GUEST_SECONDS = 400
GUEST_HEAP = ("-Xms192m", "-Xmx192m", "-Xmn96m")  # fits in the smaller node


def output(words):
    return subprocess.run([str(w) for w in words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def compiled(home, name, work):
    """The directory of the classes of the workloads that begin so, which a JDK has compiled."""
    directory = work / home.name / name
    directory.mkdir(parents=True, exist_ok=True)
    output([home / "bin/javac", "-g", "-d", directory, *sorted(WORKLOADS.glob(name + "*.java"))])
    return directory


def recorded(java, work, *options, report=()):
    """(what a Java command printed last, the report of its profile)."""
    profile = work / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    told = output([LOCUS, "run", "-q", "-o", profile, *options, "--", *java])
    return told.splitlines()[-1], json.loads(output([LOCUS, "report", "--format=json", *report, profile]))


def estimate_of(report, method):
    """(objects, half of the interval) of what a method of SampledSites allocates; loading classes allocates in its name, too."""
    here = [e for e in report["estimates"] if e["allocation_path"] and
            (e["allocation_path"][0]["class"], e["allocation_path"][0]["method"]) == ("SampledSites", method)]
    own = [e for e in here if e["class"].startswith("SampledSites$")] or [e for e in here if e["class"] == "byte[]"]
    # Errors of different sites are independent.
    return sum(e["objects"] for e in own), math.hypot(*(e["objects_high"] - e["objects"] for e in own))


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


def names_of(report):
    """{(method of Names that was called first, class of the array): the sets of names of its sites}."""
    found = {}
    for site in report["sites"]:
        methods = [f["method"] for f in site["allocation_path"] if f["class"] == "Names" and f["method"] != "main"]
        if methods:
            told = frozenset((n["kind"], n["name"]) for n in site.get("names", []))
            found.setdefault((methods[-1], site["class"]), set()).add(told)
    return found


def names(version, home, work):
    classes = compiled(home, "Names", work)
    expected = json.loads((WORKLOADS / "Names.json").read_text())
    for rounds in (INTERPRETED, COMPILED):
        java = [home / "bin/java", "-Xmx512m", "-cp", classes, "Names", rounds]
        _, report = recorded(java, work, "--sample-interval=0", report=["--top=1000"])
        found = names_of(report)
        told = [(found.get((p["method"], p["class"]), set()), frozenset(map(tuple, p["names"]))) for p in expected]
        yield {"jdk": version, "compiled": rounds == COMPILED, "patterns": len(told),
               "right": sum(said == {true} for said, true in told),
               "none": sum(not any(said) for said, _ in told)}


def marked_line(name, mark):
    lines = (WORKLOADS / (name + ".java")).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.rstrip().endswith("// site: " + mark))


def findings(version, home, work):
    classes = compiled(home, "Findings", work)
    expected = json.loads((WORKLOADS / "Findings.json").read_text())
    found = {}
    for mode in dict.fromkeys([*(e["mode"] for e in expected), "calm"]):
        java = [home / "bin/java", "-Xmx2g", "-cp", classes, "Findings", mode, FINDINGS_SECONDS]
        found[mode] = recorded(java, work)[1]["findings"]

    def kinds(of):
        """Kinds of the findings that name the marked line."""
        place = re.compile(r"\bFindings\.\w+:%d\b" % marked_line("Findings", of["site"]))
        return {f["kind"] for f in found[of["mode"]] if place.search(f["text"])}

    told = [(kinds(e), e["kind"]) for e in expected]
    yield {"jdk": version, "of": len(told), "right": sum(said == {kind} for said, kind in told),
           "other": sum(bool(said - {kind}) for said, kind in told), "calm": len(found["calm"])}


def guest_script(classes, library, out):
    """Shell code that profiles each mode of NumaPlacement, one after the other: booting takes longer than they do."""
    lines = ["mkdir -p %s && cd %s" % ((shlex.quote(str(out)),) * 2)]
    for mode, seconds in MODES.items():
        java = ["java", "-XX:+UseSerialGC", *GUEST_HEAP, "-XX:-TieredCompilation", "-Dnative=%s" % library, "-cp", str(classes),
                "NumaPlacement", mode, str(seconds)]
        words = [*(["numactl", "--interleave=all"] if mode == "interleaved" else []), "locus", "run", "-q", "-o", mode,
                 "--event=timer", "--event=fault", "--interval=1ms", "--", *java]
        lines.append("%s >%s.out" % (shlex.join(words), mode))
    return "\n".join(lines)


def true_remote(told):
    """The part of the CPU time of the loops that was at pages of another node than the thread's."""
    here = sum(phase["cpu_ns"][n][n] for phase in told["phases"] for n in range(told["nodes"]))
    return 1 - here / sum(map(sum, (row for phase in told["phases"] for row in phase["cpu_ns"])))


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
        end = "(NumaPlacement.java:%d)" % marked_line("NumaPlacement", mode)
        (site,) = [s for s in report["sites"] if (s["diagnosis"]["allocation_line"] or "").endswith(end)]
        yield {"jdk": version, "mode": mode, "samples": site["known"], "true": true_remote(told), "remote": site["remote_share"]}


KINDS = {"estimates": estimates, "names": names, "findings": findings, "nodes": nodes}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", action="append", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures here")
    options = parser.parse_args()
    told = {}
    with tempfile.TemporaryDirectory(prefix="locus-known-") as directory:
        for kind in options.only or KINDS:
            for version, home in jdks():
                for row in KINDS[kind](version, home, pathlib.Path(directory)):
                    told.setdefault(kind, []).append(row)
                    print(kind, json.dumps(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
