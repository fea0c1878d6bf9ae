# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/EVALUATION.md that are of other measurements than the runs of all programs; each is "" without its file."""

import json
import re

import benchd
from figures import verdict
from tables import markdown, without_paths

LOOPS = re.compile(r"^(\S+)-sources\.jar: (\d+) loops, \d+ extracted, (\d+) compile")
TESTED = re.compile(r"^  (\d+) of these are executed by the library's tests; (\d+) pass")
TRUTH = re.compile(r"^(\S+|  without \S+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) \.\. ([\d.]+)  (.*)$")

NOT_MEASURED = re.compile(r"^(\S+): NOT measured: (.*)$")


STORM = re.compile(r"^(\S+) +bare ([\d.]+) s, Locus ([\d.]+) s \(.*?\): ratio ([\d.]+) \(([\d.]+) to ([\d.]+)\), per array ([\d.]+);", re.M)


def read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def text(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def accuracy(told):
    """True and sampled shares of programs whose CPU time is known, and classes of objects whose class is known."""
    if not told:
        return ""
    shares = [[r["jdk"], r["collector"], r["threads"], r["samples"], "%.1f" % r["worst"], "%.2f%%" % (100 * r["unexplained"]),
               "%d of %d" % (r["disagree"], r["checked"])] for r in told["rows"] if "worst" in r]
    classes = [[r["jdk"], r["collector"], r["samples"], "%.2f%%" % r["right"], r["wrong"], "%.2f%%" % (100 * r["unexplained"])]
               for r in told["rows"] if "right" in r]
    head = ["JDK", "collector", "threads", "samples", "largest difference, points", "unexplained", "other class by the header"]
    return "\n\n".join([
        "Shares: five phases of known CPU time (`Accuracy.java`), the largest difference between a phase's true share and its "
        "share of the samples.", markdown(head, shares),
        "Classes: phases that touch small objects of known classes (`KnownClasses.java`), and how many of the samples in the heap "
        "have a right class.", markdown(["JDK", "collector", "samples in the heap", "right class", "wrong class", "unexplained"], classes)])


def estimates(rows):
    head = ["JDK", "collector", "sampling interval", "sites", "within their 95% interval", "error: median", "largest"]
    return "Numbers of small objects: sites that allocate objects of 16 to 912 bytes and count them (`SampledSites.java`), and how far " \
        "the estimates are off.", markdown(head, [
            [r["jdk"], r["collector"], r["interval"], r["sites"], r["within"], "%.1f%%" % (100 * r["median_error"]),
             "%.1f%%" % (100 * r["largest_error"])] for r in rows])


def names(rows):
    head = ["JDK", "code", "patterns", "right names", "other names", "no name"]
    return "Names of arrays: arrays that end in fields, variables, other arrays and calls (`Names.java`).", markdown(head, [
        [r["jdk"], "compiled" if r["compiled"] else "interpreted", r["patterns"], r["right"],
         r["patterns"] - r["right"] - r["none"], r["none"]] for r in rows])


def findings(rows):
    head = ["JDK", "objects", "the right finding alone", "another finding", "findings of the program without"]
    return "Findings: objects that have one finding each (`Findings.java`), and a program that has none.", markdown(head, [
        [r["jdk"], r["of"], r["right"], r["other"], r["calm"]] for r in rows])


def calm(rows):
    head = ["JDK", "programs", "samples of each, at least", "with a finding"]
    told = []
    for jdk in sorted({r["jdk"] for r in rows}):
        of = [r for r in rows if r["jdk"] == jdk]
        false = ["%s (%s)" % (r["mode"], ", ".join(r["findings"])) for r in of if r["findings"]]
        told.append([jdk, len(of), min(r["samples"] for r in of), "; ".join(false) or "none"])
    return "False findings: programs without a problem, whose arithmetic takes the time (`Calm.java`).", markdown(head, told)


def nodes(rows):
    head = ["JDK", "placement", "samples", "remote part of the time: true", "of the samples"]
    return "NUMA nodes: an emulated machine of two nodes (`NumaPlacement.java` under `scripts/numa-guest`), whose pages are on the " \
        "master's node, on that of each thread, on both in turn, or moved by a collection.", markdown(head, [
            [r["jdk"], r["mode"], r["samples"], "%.1f%%" % (100 * r["true"]), "%.1f%%" % (100 * r["remote"])] if "mode" in r
            else [r["jdk"], "skipped: " + without_paths(r["skipped"]), "", "", ""] for r in rows])


KNOWN = {"estimates": estimates, "names": names, "findings": findings, "calm": calm, "nodes": nodes}


def known(told):
    """Figures of Locus beside those of programs that know the truth; "" if not measured."""
    return "\n\n".join(text for kind, table in KNOWN.items() if (told or {}).get(kind) for text in table(told[kind]))


def merge(rows):
    """How fast profiles are merged; each figure is the median of some rounds, with the least and the most."""
    head = ["profiles", "number", "jobs", "paths, millions", "million paths per CPU second", "times decompressing", "run time, s", "memory, MB"]

    def cell(of, form):
        return "%s [%s, %s]" % tuple(form % of[k] for k in ("median", "least", "most"))
    return markdown(head, [
        [r["inputs"], r["profiles"], r["jobs"], "%.1f" % (r["paths"] / 1e6), cell(r["million_paths_per_cpu_s"], "%.1f"),
         cell(r["times_decompressing"], "%.1f"), cell(r["all_s"], "%.2f"), "%.0f" % r["max_rss_mb"]["median"]] for r in rows]) if rows else ""


def loops(text):
    """How many loops of libraries have benchmarks, and how many of these pass their regression test."""
    rows = []
    for line in text.splitlines():
        found, tested = LOOPS.match(line), TESTED.match(line)
        if found:
            rows.append([found[1], int(found[2]), int(found[3]), "", ""])
        elif tested and rows:
            rows[-1][3:] = [int(tested[1]), int(tested[2])]
    if not rows:
        return ""
    have = [r for r in rows if r[4] != ""]
    rows.append(["*all*", sum(r[1] for r in rows), sum(r[2] for r in rows), sum(r[3] for r in have), sum(r[4] for r in have)])
    table = markdown(["library", "loops", "compile", "of these executed by its tests", "of these pass"], rows)
    if not have:
        return table
    of, passed = sum(r[1] for r in have), sum(r[4] for r in have)
    return "%s\n\n%d of the %d loops of libraries with tests have a benchmark that passes its test, %.1f%%." % (
        table, passed, of, 100 * passed / of)


def near(text):
    """(kernels within their limit, all kernels) of the truth of benchmarks; one that was not measured is not within."""
    found = [TRUTH.match(line) for line in text.splitlines()]
    kernels = [line for line in found if line and not line[1].strip().startswith("without ")]
    absent = sum(bool(NOT_MEASURED.match(line)) for line in text.splitlines())
    return sum(line[7].startswith("ok") for line in kernels), len(kernels) + absent


def truth(text):
    """Benchmarks that are made beside those of an expert, and what is wrong without a rule."""
    rows = []
    for line in text.splitlines():
        found, absent = TRUTH.match(line), NOT_MEASURED.match(line)
        if found:
            rows.append([found[1].strip(), found[2], found[3], found[4], "[%s, %s]" % (found[5], found[6]), found[7]])
        elif absent:
            rows.append([absent[1], "", "", "", "", "NOT measured: " + absent[2]])
    if not rows:
        return ""
    table = markdown(["kernel", "expert's, ns", "generated, ns", "ratio", "95% interval", ""], rows)
    return "%s\n\n%d of %d kernels are within their limit." % (table, *near(text))


SPAN_KINDS = {"streams": "program of streams", "stream": "stream of known length", "tasks": "program of tasks",
              "task": "task of known length"}


def span_kind(row):
    """Which of SPAN_KINDS a row of figures is of. Rows of before there were several are of programs of streams."""
    return row.get("kind", "streams")


def spans(rows):
    """How true the cycles of streams and tasks are."""
    if not rows:
        return ""
    head = ["what", "program", "pairs", "cycles of a span", "measured / true", "compensated / true: median [quartiles]", "accuracy", "target", ""]
    return markdown(head, [
        [SPAN_KINDS[span_kind(r)], r["program"], r["pairs"], "%.0f" % r["cycles"],
         "%.3f" % r["perturbation"] if r.get("perturbation") else "", "%.3f [%.3f, %.3f]" % tuple(r["ratio"]),
         "%.1f%%" % (100 * r["accuracy"]), "%.0f%%" % (100 * r["target"]), verdict(r["accuracy"] >= r["target"])] for r in rows])


def split_summaries(path):
    """The summaries of scripts/bench.py --split --quick, by JDK; [] without its file."""
    if not path.exists():
        return []
    programs = benchd.programs.PROGRAMS
    calls = {p.name: [*p.java, *p.jars, *p.short] for p in programs}
    state = benchd.state.State(path, calls)
    variants = ("bare", *benchd.run.PARTS)
    versions = sorted({version for version, _ in state.rounds})
    summaries = [benchd.table.summary(state, version, variants) for version in versions]
    return [s for s in summaries if s["rows"]]


def part_ratios(path):
    """[(ratio, name)] of the CPU time of the programs with all parts of Locus on."""
    return [(r["others"]["locus"]["cpu"][0], "%s, JDK %d" % (r["name"], s["jdk"])) for s in split_summaries(path) for r in s["rows"]
            if r["group"] != "start"]


def parts(path):
    """The CPU time of Locus with each of its parts off."""
    summaries = split_summaries(path)
    if not summaries:
        return ""
    pairs = [o["pairs"] for s in summaries for r in s["rows"] for o in r["others"].values()]
    return "%s\n\nRatios of CPU time to bare, medians of %d to %d pairs." % (benchd.table.split(summaries), min(pairs), max(pairs))


def storm_ratios(text):
    """[(ratio, name)] of the CPU time of storms of call paths, for each array: how many there are differs from run to run."""
    return [(float(found[7]), "storm: " + found[1]) for found in STORM.finditer(text)]


def storms(text):
    """The cost of Locus in storms of call paths; "" if not measured."""
    rows = [[found[1], found[2], found[3], "%s [%s, %s]" % (found[4], found[5], found[6]), found[7]] for found in STORM.finditer(text)]
    return markdown(["storm", "bare, s", "Locus, s", "ratio without the start: median [least, most]", "for each array"], rows) if rows else ""
