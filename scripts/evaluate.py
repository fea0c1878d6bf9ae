#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure how true the reports are: run programs of known CPU time and classes, and compare.

evaluate.py [--seconds N] [--collector NAME]... [--json FILE]

Shares: runs tests/workloads/Accuracy.java with each JDK that is installed, each collector, on 1 and 2
threads, and prints per phase the share of CPU time and the share of samples; then the largest difference
of all in points. Classes: runs KnownClasses.java, whose phases touch objects of known classes that are
too small to be tracked, and prints how many of the heap samples have a right class and a wrong one.
Both: "unexplained" is no_address and heap_unknown, as a part of the samples in Java code; "disagree" is
how many of the samples in tracked objects have another class by the object's own header.
Nothing here fails: the tests do that.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from jdks import jdks

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOCUS = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "locus"
COLLECTORS = ("Serial", "Parallel", "G1")


def profile(home, collector, work, name, *arguments):
    """The program's own figures, the report, and the agent's counters."""
    directory = work / "-".join(["prof", home.name, collector, name, *arguments])
    out = subprocess.run(
        [LOCUS, "run", "-o", directory, "--interval=4ms", "--", home / "bin/java", "-Xmx384m", "-Xmn64m",
         "-XX:+Use%sGC" % collector, "-cp", work / home.name, name, *arguments],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    told = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    text = subprocess.run(
        [LOCUS, "report", directory, "--format=json", "--top=100000"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    return told, json.loads(text)


def explained(report):
    """Figures that every program has."""
    where, samples = report["details"]["where"], report["samples"]
    counters = report["processes"][0]["counters"]
    return {"unexplained": (samples["no_address"] + samples["heap_unknown"]) / max(1, where["compiled"] + where["stub"]),
            "disagree": counters["class_disagreements"], "checked": counters["classes_checked"]}


def shares(home, collector, work, threads, seconds):
    """For Accuracy's phases: true and sampled share, in percent, and their largest difference."""
    told, report = profile(home, collector, work, "Accuracy", str(threads), str(seconds / threads))
    samples, phases = {}, {}
    for site in report["sites"]:
        leaf = site["allocation_path"][0]["method"] if site["allocation_path"] else ""
        samples[leaf] = samples.get(leaf, 0) + site["samples"]
    for name, ns in told["phases_ns"].items():
        true = 100 * ns / told["total_ns"]
        phases[name] = {"true": true, "sampled": 100 * samples.get(name, 0) / report["samples"]["total"]}
    worst = max(abs(p["true"] - p["sampled"]) for p in phases.values())
    return {"threads": threads, "samples": report["samples"]["total"], "phases": phases, "worst": worst, **explained(report)}


def classes(home, collector, work, seconds):
    """For KnownClasses' phases: how many of all heap samples have a right class and a wrong one."""
    told, report = profile(home, collector, work, "KnownClasses", str(seconds / 5))
    phases, heap, right, wrong = {}, 0, 0, 0
    for phase, names in told.items():
        found = {}
        rows = [(s["class"], a) for s in report["classes"] + report["sites"] for a in s["accesses"]]
        rows += [("", a) for a in report["other_accesses"] if a["bucket"] == "heap_unknown"]
        for name, access in rows:
            if any(f["method"] == phase for f in access["path"]):
                found[name] = found.get(name, 0) + access["samples"]
        possible = names["mostly"] + names["also"]
        here = sum(found.values())
        heap += here
        right += sum(found.get(name, 0) for name in possible)
        wrong += sum(n for name, n in found.items() if name and name not in possible)
        phases[phase] = 100 * sum(found.get(name, 0) for name in possible) / max(1, here)
    return {"samples": heap, "phases": phases, "right": 100 * right / max(1, heap), "wrong": wrong, **explained(report)}


def show(version, collector, row):
    """A line for the terminal."""
    if "threads" in row:
        title = "%7d" % row["threads"]
        cells = ["%s %.1f/%.1f" % (name[3:], p["true"], p["sampled"]) for name, p in row["phases"].items()]
    else:
        title = "classes"
        cells = ["%s %.1f" % phase for phase in row["phases"].items()]
        cells.append("all %.2f%% right, %d wrong" % (row["right"], row["wrong"]))
    cells.append("unexplained %.2f%%  disagree %d/%d" % (100 * row["unexplained"], row["disagree"], row["checked"]))
    print("%-4d %-9s %s  %6d  %s" % (version, collector, title, row["samples"], "  ".join(cells)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=12, help="CPU time of one run")
    parser.add_argument("--collector", action="append", choices=COLLECTORS)
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    options = parser.parse_args()
    rows = []
    print("%-4s %-9s %-7s  %6s  %s" % ("JDK", "collector", "threads", "N", "site: true/sampled %; class: right %"))
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        for version, home in jdks():
            for name in ("Accuracy", "KnownClasses"):
                subprocess.run(
                    [home / "bin/javac", "-d", work / home.name, ROOT / "tests/workloads" / (name + ".java")],
                    check=True,
                )
            for collector in options.collector or COLLECTORS:
                measured = [shares(home, collector, work, threads, options.seconds) for threads in (1, 2)]
                measured.append(classes(home, collector, work, options.seconds))
                for row in measured:
                    rows.append({"jdk": version, "collector": collector, **row})
                    show(version, collector, row)
    print("largest difference: %.1f points" % max(row["worst"] for row in rows if "worst" in row))
    if options.json:
        options.json.write_text(json.dumps({"seconds": options.seconds, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
