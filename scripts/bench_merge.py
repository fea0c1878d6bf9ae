#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure `locus merge`: call paths and bytes a second, and what decompressing the same files takes alone.

bench_merge.py [--counts N,N] [--nodes N] [--jobs N] [--rounds N] [--json FILE] [PROFILE]...

Inputs are profiles of one thread with --nodes call paths each (tests/bench/merge_inputs.c). "recorded" inputs are
drawn from profiles of programs: of PROFILE, or else of javac and of a fork-join program, which are recorded first. "invented"
inputs grow at random and have less in common. "whole" are the recorded profiles themselves, as they were
written, again and again as if by different processes. Each row is the median of --rounds merges, with the least and the
largest; rates are of the CPU time of reading, so that other work on the machine counts little.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build"))
WORKLOADS = ROOT / "tests" / "workloads"


def run(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit("bench_merge: %s\nended with %d\n%s" % (command[:4], done.returncode, done.stderr))
    return done.stdout


def record(directory):
    """Profiles of javac and of a program of many threads, seconds each."""
    java = pathlib.Path(run([ROOT / "scripts" / "find-jdk"]).strip()) / "bin"
    classes = directory / "classes"
    classes.mkdir()
    sources = sorted(str(path) for path in WORKLOADS.glob("*.java"))
    profiles = [directory / "javac", directory / "fork-join"]
    compiler = [java / "java", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-nowarn", "-d", classes]
    # Some workloads need a newer JDK or libraries: what javac does with them is as good.
    subprocess.run([str(w) for w in (BUILD / "locus", "run", "-o", profiles[0], "--min-size=0", "--", *compiler, *sources)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run([*compiler, WORKLOADS / "bench" / "ForkJoinArrays.java"])
    run([BUILD / "locus", "run", "-o", profiles[1], "--min-size=0", "--", java / "java", "-cp", classes, "ForkJoinArrays", "2000"])
    return profiles


def repeated(profiles, directory, count):
    """The profiles again and again; their blocks are links."""
    paths = []
    for i in range(count):
        path = directory / str(i)
        path.mkdir(parents=True)
        source = profiles[i % len(profiles)]
        for file in source.glob("*.lcb"):
            os.link(file, path / file.name)
        manifest = json.loads((source / "manifest.json").read_text())
        manifest["processes"][0]["start_wall_ns"] += i
        (path / "manifest.json").write_text(json.dumps(manifest))
        paths.append(path)
    return paths


def measure(paths, jobs, rounds, output):
    rows = []
    for _ in range(rounds):
        shutil.rmtree(output, ignore_errors=True)
        rows.append(json.loads(run([BUILD / "bench" / "merge_rates", jobs, output, *paths])))
    return rows


def spread(rows, figure):
    values = sorted(figure(row) for row in rows)
    return {"median": statistics.median(values), "least": values[0], "most": values[-1]}


def figures(name, jobs, rows):
    one = rows[0]
    return {
        "inputs": name, "profiles": one["profiles"], "jobs": jobs, "paths": one["paths"], "bytes": one["bytes"],
        "million_paths_per_cpu_s": spread(rows, lambda r: r["paths"] / r["read_cpu_s"] / 1e6),
        "mb_per_cpu_s": spread(rows, lambda r: r["bytes"] / r["read_cpu_s"] / 1e6),
        "times_decompressing": spread(rows, lambda r: r["read_cpu_s"] / r["decompress_cpu_s"]),
        "all_s": spread(rows, lambda r: r["manifests_s"] + r["read_s"] + r["write_s"]),
        "all_cpu_s": spread(rows, lambda r: r["manifests_cpu_s"] + r["read_cpu_s"] + r["write_cpu_s"]),
        "max_rss_mb": spread(rows, lambda r: r["max_rss_kb"] / 1024),
    }


def show(f):
    print("%-9s %5d profiles, %d jobs, %6.1f million paths, %7.1f MB: " % (f["inputs"], f["profiles"], f["jobs"],
          f["paths"] / 1e6, f["bytes"] / 1e6) + ", ".join(
              "%s %s" % (text % f[name]["median"], "(%.3g to %.3g)" % (f[name]["least"], f[name]["most"]))
              for name, text in (("million_paths_per_cpu_s", "%.1f million paths/CPU s"), ("mb_per_cpu_s", "%.0f MB/CPU s"),
                                 ("times_decompressing", "%.1f times decompressing"), ("all_s", "%.2f s"),
                                 ("all_cpu_s", "%.2f CPU s"), ("max_rss_mb", "%.0f MB of memory"))), flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--counts", default="16,64,256,1024,4096")
    options.add_argument("--nodes", type=int, default=20000)
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json")
    options.add_argument("profiles", nargs="*", type=pathlib.Path)
    args = options.parse_args()
    counts = sorted(int(count) for count in args.counts.split(","))
    all_figures = []
    with tempfile.TemporaryDirectory(prefix="locus-merge-") as name:
        directory = pathlib.Path(name)
        profiles = args.profiles or record(directory)
        for kind, of in ("recorded", profiles), ("invented", []), ("whole", profiles):
            here = directory / kind
            if kind == "whole":
                paths = repeated(profiles, here, counts[-1])
            else:
                run([BUILD / "bench" / "merge_inputs", here, counts[-1], args.nodes, 1, *of])
                paths = [here / str(i) for i in range(counts[-1])]
            for count in counts:
                for jobs in sorted({1, args.jobs}):
                    rows = measure(paths[:count], jobs, args.rounds, directory / "merged")
                    all_figures.append(figures(kind, jobs, rows))
                    show(all_figures[-1])
            shutil.rmtree(here)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(all_figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
