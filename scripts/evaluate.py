#!/usr/bin/env python3
"""How true the shares are: programs of known CPU time per phase, and what Locus says of each site.

evaluate.py [--seconds N] [--collector NAME]...

Runs tests/workloads/Accuracy.java with each JDK that is installed, each collector, on 1 and 2
threads, and prints per phase the share of CPU time, the share of samples, and their difference in
points; then the largest difference of all. Nothing here fails: the tests do that.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOCUS = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "locus"
COLLECTORS = ("Serial", "Parallel", "G1")


def jdks():
    """Homes of the JDKs from 11 on, by version; one of each."""
    found = {}
    for release in sorted(pathlib.Path("/usr/lib/jvm").glob("*/release")):
        words = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
        version = words.get("JAVA_VERSION", '"0"').strip('"').split(".")[0]
        if int(version) >= 11 and (release.parent / "bin/javac").exists():
            found.setdefault(int(version), release.parent)
    return sorted(found.items())


def evaluate(home, collector, threads, seconds, work):
    profile = work / ("prof-%s-%s-%d" % (home.name, collector, threads))
    out = subprocess.run(
        [LOCUS, "run", "-o", profile, "--interval=4ms", "--", home / "bin/java", "-Xmx384m", "-Xmn64m",
         "-XX:+Use%sGC" % collector, "-cp", work / home.name, "Accuracy", str(threads),
         str(seconds / threads)],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    told = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    text = subprocess.run(
        [LOCUS, "report", profile, "--format=json", "--top=100000"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    report = json.loads(text)
    samples = {}
    for site in report["sites"]:
        leaf = site["allocation_path"][0]["method"] if site["allocation_path"] else ""
        samples[leaf] = samples.get(leaf, 0) + site["samples"]
    return told, report["samples"], samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=12, help="CPU time of one run")
    parser.add_argument("--collector", action="append", choices=COLLECTORS)
    options = parser.parse_args()
    worst = 0.0
    print("%-4s %-9s %s  %6s  %s" % ("JDK", "collector", "threads", "N", "site: true/sampled %"))
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        for version, home in jdks():
            subprocess.run(
                [home / "bin/javac", "-d", work / home.name, ROOT / "tests/workloads/Accuracy.java"],
                check=True,
            )
            for collector in options.collector or COLLECTORS:
                for threads in (1, 2):
                    told, all_samples, samples = evaluate(home, collector, threads, options.seconds, work)
                    cells = []
                    for name, ns in told["phases_ns"].items():
                        true = 100 * ns / told["total_ns"]
                        seen = 100 * samples.get(name, 0) / all_samples["total"]
                        worst = max(worst, abs(true - seen))
                        cells.append("%s %.1f/%.1f" % (name[3:], true, seen))
                    print("%-4d %-9s %7d  %6d  %s" % (
                        version, collector, threads, all_samples["total"], "  ".join(cells)), flush=True)
    print("largest difference: %.1f points" % worst)


if __name__ == "__main__":
    main()
