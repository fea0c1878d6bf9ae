#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what Locus costs: run whole programs in turn without it, with it, and with other profilers.

bench.py [OPTION]... [MICRO_BENCHMARK]...

For each program: medians of CPU time and wall clock, and for Locus, async-profiler (cpu,alloc) and JFR (profile) the
median of the pairs' ratios to the bare run beside them, with the range in which the middle half of them lies, and the
target. The order changes with each round, so that a drift of the machine favours no one. A program must print and
write the same each time. Results are kept in a file for each build of Locus (build/bench/): a run that was
stopped, or that was told to stop (--for), goes on where it was when it is called again. At the end, each micro-benchmark
is run and its output shown.

A whole measurement (10 pairs, runs of 20 s) takes some four hours for each JDK. --quick takes some 25 minutes for each:
3 pairs of the real programs, runs of some 6 s, of which starting is a larger part, and 2 pairs of the rest.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "bench.d"))

import fetch
import run
import table
from jdks import jdks, version_of
from programs import ASYNC, PROGRAMS
from state import State

DEFAULT = ("bare", "locus", *run.PEERS)


def parse():
    parser = argparse.ArgumentParser(description="what Locus costs")
    parser.add_argument("--pairs", type=int, help="rounds in all, those of earlier runs included (10; with --quick 3 "
                        "of the real programs, 2 of the rest)")
    parser.add_argument("--quick", action="store_true", help="short runs: 25 minutes for each JDK")
    parser.add_argument("--jdk", action="append", type=pathlib.Path, help="home of a JDK (all of this machine)")
    parser.add_argument("--collector", choices=list(run.COLLECTORS), help="run all with this one, where the JDK has it "
                        "(what the JVM chooses)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="a program, or a group: real, row, start; see --list")
    parser.add_argument("--variants", default=",".join(DEFAULT), help="some of: " + ", ".join(run.VARIANTS[:-1]))
    parser.add_argument("--split", action="store_true", help="run Locus with each of its parts off, in place of peers")
    parser.add_argument("--against", type=pathlib.Path, metavar="DIR",
                        help="run the Locus of this build directory too (variant \"other\")")
    parser.add_argument("--for", type=float, dest="seconds", metavar="SECONDS",
                        help="begin no round that would not end in time")
    parser.add_argument("--state", type=pathlib.Path, help="file of results (build/bench/BUILD-full.jsonl)")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    parser.add_argument("--show", action="store_true", help="print what was measured; run nothing")
    parser.add_argument("--table", action="store_true", help="print the table as Markdown; run nothing")
    parser.add_argument("--list", action="store_true", help="print the names of the programs")
    parser.add_argument("micro", nargs="*")
    args = parser.parse_args()
    args.row_pairs = args.pairs or (2 if args.quick else 10)
    args.pairs = args.pairs or (3 if args.quick else 10)
    args.variants = ("bare", *run.PARTS) if args.split else tuple(args.variants.split(","))
    if args.against:
        args.variants += (run.OTHER,)
    unknown = set(args.variants) - set(run.VARIANTS)
    if unknown or args.variants[0] != "bare" or len(args.variants) < 2:
        parser.error("--variants: bare, and some of " + ", ".join(run.VARIANTS[1:]))
    for name in args.only or ():
        if not any(name in (p.name, p.group) for p in PROGRAMS):
            parser.error("--only: no program %s" % name)
    builds = [run.build_id(), *([run.build_id(args.against)] if args.against else [])]
    args.state = args.state or run.BUILD / "bench" / ("%s-%s.jsonl" % (
        "-".join(builds), "quick" if args.quick else "full"))
    return args


def call(program, args):
    """How a program is called, without what hangs on the machine."""
    return [*program.java, *program.jars, *(program.short if args.quick else program.full)]


def middle(records):
    """One record for several runs: their medians."""
    if len(records) == 1:
        return records[0]
    fields = ("cpu", "wall", "rss_mb", "pauses_ms")
    return {**records[0], **{f: statistics.median(r[f] for r in records) for f in fields}}


def one_round(machine, program, words, variants, number):
    """Runs each variant; the first one changes with the round, and every other round goes backwards."""
    turn = number // 2 % len(variants)
    order = variants[turn:] + variants[:turn]
    records = {v: [] for v in variants}
    for _ in range(program.repeat):
        for variant in order if number % 2 == 0 else order[::-1]:
            records[variant].append(machine.run(program, words, variant))
    return {v: middle(r) for v, r in records.items()}


def expected(state, version, program):
    """How long the last round of this program took; 0 where there was none."""
    rounds = state.rounds.get((version, program.name))
    return sum(r["wall"] for r in rounds[-1].values()) * program.repeat if rounds else 0


def missing(args, state, homes, programs):
    """The runs in order: all rounds of the real programs, then all of the rest."""
    for real in (True, False):
        for number in range(args.pairs if real else args.row_pairs):
            for version, home in homes:
                for program in programs:
                    if (program.group == "real") == real and program.jdk <= version:
                        if len(state.of(version, program.name, args.variants)) <= number:
                            yield number, version, home, program


def measure(args, state, homes, programs, work):
    """Runs what is missing; returns whether there was time for all, and the programs that failed."""
    start = time.monotonic()
    fetch.unpack_sources(work)
    library = fetch.async_profiler(work)
    state.note("CPUs", os.cpu_count())
    state.note("build", run.build_id())
    commands, calibrate, failed, absent = {}, set(), set(), set()
    for number, version, home, program in missing(args, state, homes, programs):
        if args.seconds and time.monotonic() - start + expected(state, version, program) > args.seconds:
            return False, failed
        machine = run.Machine(version, home, work, library, args.against, args.collector)
        key = version, program.name
        if version in absent:
            continue
        if key not in commands and not machine.has_collector():
            print("bench: JDK %d has no %s" % (version, args.collector), file=sys.stderr)
            absent.add(version)
            continue
        if key not in commands:
            jars = fetch.compile_workload(program, home, work)
            commands[key] = machine.words(program, program.short if args.quick else program.full, jars)
            if any(option.startswith("--spans") for option in program.locus) and "locus" in args.variants:
                calibrate.add(key)
        try:
            if key in calibrate:  # what spans cost is not known before the first run
                machine.run(program, commands[key], "locus")
                calibrate.remove(key)
            runs = one_round(machine, program, commands[key], args.variants, number)
        except run.Failed as error:
            print(error, file=sys.stderr, flush=True)
            failed.add(key)
            continue
        state.append({"jdk": version, "program": program.name, "call": call(program, args),
                      "load": os.getloadavg()[0], "runs": runs,
                      **({"collector": args.collector} if args.collector else {})})
        if "async-profiler" in args.variants:
            state.note(ASYNC.split(":", 1)[1].replace(":", " ") + " by", machine.engine())
        print("%s  JDK %d  %-28s %s" % (time.strftime("%H:%M:%S"), version, program.name, "  ".join(
            "%s %.2f" % (v, runs[v]["cpu"]) for v in args.variants)), file=sys.stderr, flush=True)
    return True, failed


def report(args, state, homes):
    """Prints the tables; returns whether every output was the same."""
    summaries = [table.summary(state, version, args.variants) for version, _ in homes]
    summaries = [s for s in summaries if s["rows"]]
    if args.json:
        args.json.write_text(json.dumps(summaries, indent=1) + "\n")
    if args.table:
        print(table.split(summaries) if args.split else table.markdown(summaries))
        return True
    for s in summaries:
        table.show(s)
    return all(r["same_output"] for s in summaries for r in s["rows"])


def main():
    args = parse()
    if args.list:
        print("\n".join("%-6s %s" % (p.group, p.name) for p in PROGRAMS))
        return 0
    homes = [(version_of(home), home.resolve()) for home in args.jdk] if args.jdk else jdks()
    programs = [p for p in PROGRAMS if not args.only or p.name in args.only or p.group in args.only]
    state = State(args.state, {p.name: call(p, args) for p in PROGRAMS}, args.collector)
    failed = set()
    if not (args.table or args.show):
        with tempfile.TemporaryDirectory(prefix="locus-bench-") as work:
            whole, failed = measure(args, state, homes, programs, pathlib.Path(work))
            if not whole:
                print("bench: to be continued; results are in %s" % args.state, file=sys.stderr)
    same = report(args, state, homes)
    for micro in args.micro:
        print("\n%s" % pathlib.Path(micro).name, flush=True)
        subprocess.run([micro], check=True)
    for version, name in sorted(failed):
        print("bench: %s failed with JDK %d" % (name, version), file=sys.stderr)
    return 0 if same and not failed else 1


sys.exit(main())
