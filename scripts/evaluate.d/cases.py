#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Case studies: what Locus finds in a library, the change that it suggests as a patch, and what the change is worth.

cases.py [--quick] [--only NAME]... [--pairs N] [--jdk HOME] [--json FILE]

A case is a directory of tests/evaluation/cases/: Main.java uses a library, change.patch changes the library's sources or
Main.java, and case.json says where both come from and which object, calls, stream or task the finding is of. For each case:
fetches the library and its sources by Maven, compiles the sources that the patch changes, as they are and patched,
profiles Main as it is, takes from `locus report` the lines on the object, or from `locus spans` the diagnosis, and runs
both in turn: pairs whose order changes. A case with "peers" also has the first screens of Locus and of async-profiler, of
runs of their own.
Results are kept in a file (build/evaluation/cases.json), and a call goes on where the last one ended. Prints the section
of docs/EVALUATION.md. A case that fails is named and has no further pairs, and the exit status is then 1; also where the
gains that a finding prints are not what the changes gain: see broken_limits().
--quick: one case, one pair of short runs.
"""

import argparse
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import case_spans
import maven
import stats
from jdks import jdks

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "tests/evaluation/cases"
MAIN = "Main.java"
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve()
OUT = BUILD / "evaluation"
VERSIONS = ("before", "after")
PAIRS = 20
OVER = 1.5  # a printed gain that is so many times the measured one is far above it
OVER_CASES = 2  # so many cases may have one
NOTHING_GAINED = 1.2  # the most that may be printed of an object whose change does not pay
LIMIT_SECONDS = 300  # a run that takes longer hangs
WIDTH = 100  # columns of the report
ROWS = 1000  # of the report: all
# Options of a peer, which prints first: its methods or classes with most samples.
PEERS = {"async-profiler, CPU time": "event=cpu,interval=5ms", "async-profiler, allocations": "event=alloc,alloc=64k"}
PEER_ROWS = 8


class Failed(Exception):
    """A case is not as it says."""


@dataclasses.dataclass(frozen=True)
class Case:
    """The object of a case.json, and its directory."""

    directory: pathlib.Path
    library: str  # "group:artifact:version"; there are sources of it; "": the JDK
    java: list  # options of java
    full: list  # arguments of a run of some seconds
    quick: list  # ... of about a second
    result: dict  # what Main prints, for each size
    pays: bool  # does the change make Main faster?
    wrong: str  # a sentence
    change: str  # a sentence
    # The subject of the finding. An object: its class, and the method that allocates it ("" where Locus cannot know); calls: the
    # finding's kind, and words of its text. A stream or task:
    # the pattern, the method that executes or creates it, words of the advice, and the speed-up that was published of a like program.
    object: dict = None
    span: dict = None
    compile: list = ()  # artifacts that the sources are compiled with besides, as annotations are
    runtime: list = ()  # artifacts that Main needs besides
    program: str = ""  # the case that has Main.java and the patch, if it is another one
    peers: bool = False

    @property
    def name(self):
        return self.directory.name

    @property
    def sources(self):
        """The directory of Main.java and the patch."""
        return self.directory.parent / (self.program or self.name)

    @property
    def patch(self):
        return self.sources / "change.patch"


def read(directory):
    """The case of a directory."""
    entry = json.loads((directory / "case.json").read_text(encoding="utf-8"))
    return Case(directory=directory, **entry)


def load(only=()):
    """All cases, or those of these names: first those that pay."""
    known = [read(path.parent) for path in sorted(CASES.glob("*/case.json"))]
    unknown = set(only) - {case.name for case in known}
    if unknown:
        raise Failed("there is no case %s" % ", ".join(sorted(unknown)))
    return sorted((c for c in known if not only or c.name in only), key=lambda c: not c.pays)


def fingerprint(case, home):
    """A hash of what a measurement depends on: the case, the JDK and the libraries of Locus."""
    files = [case.directory / "case.json", case.patch, case.sources / MAIN]
    files += [home / "release", *(BUILD / name for name in ("locus", "liblocus.so", "liblocus-preload.so"))]
    whole = hashlib.sha256()
    for path in files:
        whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


def patched(patch):
    """The paths of the files that a unified diff changes."""
    return re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8"), re.M)


def unpack(case, directory):
    """Takes the files that the patch changes: Main.java, or such of the library's sources."""
    paths = patched(case.patch)
    if MAIN in paths:
        shutil.copy(case.sources / MAIN, directory)
        paths.remove(MAIN)
    if not paths:
        return
    artifact, version = case.library.split(":")[1:3]
    name = "%s-%s-sources.jar" % (artifact, version)
    jars = {pathlib.Path(jar).name: jar for jar in maven.class_path([case.library + ":jar:sources"])}
    with zipfile.ZipFile(jars[name]) as jar:
        for path in paths:
            if path not in jar.namelist():
                raise Failed("%s: the sources of %s have no %s" % (case.name, case.library, path))
            jar.extract(path, directory)


def apply(case, directory):
    """Changes the sources; a patch of which a part does not fit is not applied."""
    command = ["git", "apply", "--whitespace=nowarn", "-p1", str(case.patch)]
    # Without a repository around it, git takes the paths as they are.
    alone = dict(os.environ, GIT_CEILING_DIRECTORIES=str(directory.parent))
    done = subprocess.run(command, cwd=directory, env=alone, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed("%s: change.patch does not apply to %s\n%s" % (case.name, case.library, done.stdout))


def compile_java(case, home, jars, files, directory):
    command = [home / "bin/javac", "-g", "-nowarn", "-proc:none", "-cp", ":".join(jars), "-d", directory, *files]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed("%s: %s\n%s" % (case.name, " ".join(map(str, files)), done.stdout))


def prepare(case, home, work):
    """The class path of each version: the changed classes, Main and the library; both are compiled with one javac."""
    needed = [*([case.library] if case.library else []), *case.runtime]
    jars = maven.class_path(needed) if needed else []
    further = maven.class_path(case.compile) if case.compile else []
    shutil.rmtree(work, ignore_errors=True)
    paths = {}
    for version in VERSIONS:
        sources, classes = work / version / "sources", work / version / "classes"
        sources.mkdir(parents=True)
        unpack(case, sources)
        if version == "after":
            apply(case, sources)
        files = [sources / path for path in patched(case.patch)]
        compile_java(case, home, [*jars, *further], files, classes)
        paths[version] = [str(classes), str(work / "main"), *jars]
    if MAIN not in patched(case.patch):
        compile_java(case, home, jars, [case.sources / MAIN], work / "main")
    return paths


def words(case, size, home, path, options=()):
    return [str(home / "bin/java"), *options, *case.java, "-cp", ":".join(path), "Main", *getattr(case, size)]


def run(case, size, command, work):
    """Runs a command: its CPU time and wall clock, in seconds. It must print the case's result."""
    with open(work / "out", "wb") as out, open(work / "errors", "wb") as errors:
        start = time.monotonic()
        process = subprocess.Popen(["timeout", str(LIMIT_SECONDS), *command], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=errors, cwd=work)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
    printed = (work / "out").read_text(errors="replace").split("\n")
    if status != 0 or "result: " + case.result[size] not in printed:
        told = (work / "errors").read_text(errors="replace")[-2000:]
        raise Failed("%s: %s\nended with %d and printed %s, not 'result: %s'\n%s" % (
            case.name, " ".join(map(str, command)), os.waitstatus_to_exitcode(status), printed[-3:], case.result[size], told))
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall}


def is_of(row, wanted):
    """Is this row of the report's table the case's object?"""
    if "class" not in wanted:
        return False
    at = row["allocated_at"]
    method = "%s.%s" % (at["class"], at["method"]) if at else ""
    return row["class"] == wanted["class"] and method == wanted["method"]


def blocks(text):
    """The findings and the rows of a report's screen: lists of texts, each as it is printed."""
    findings, rows = [], []
    kind, of_methods = None, False
    for line in text.splitlines():
        of_methods = line.startswith("time by ") or (of_methods and line != "")
        if re.match(r"\d+\. ", line):
            kind = findings
            kind.append(line)
        elif not of_methods and re.match(r" *[\d.]+% +[\d.]+ to ", line):
            kind = rows
            kind.append(line)
        elif not line or not line.startswith("   "):
            kind = None
        elif kind is not None:
            kind[-1] += "\n" + line
    return findings, rows


def finding_of(report, wanted):
    """The first finding that has the case's object, or is of its calls: it is the one that saves most. {}: there is none."""
    for told in report["findings"]:
        of_calls = told["kind"] == wanted.get("finding") and wanted["says"] in told["text"]
        if of_calls or any(is_of(row, wanted) for row in told.get("rows", [])):
            return told
    return {}


def told_by_locus(view, directory, *options):
    """The output of a command of Locus for a profile."""
    return subprocess.run([str(BUILD / "locus"), view, "--no-pager", *options, directory], env=dict(os.environ, COLUMNS=str(WIDTH)),
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def span_finding(case, directory):
    """The case's diagnosis in a profile."""
    text, data = (told_by_locus("spans", directory, "--top=%d" % ROWS, "--format=" + form) for form in ("text", "json"))
    found = case_spans.finding(json.loads(data)["diagnoses"], text, case.span)
    if isinstance(found, str):
        raise Failed("%s: %s" % (case.name, found))
    return found


def finding(case, directory):
    """The case's object in the report of a profile: its place in the table, its share, and the lines."""
    if case.span:
        return span_finding(case, directory)
    screen, data = (told_by_locus("report", directory, "--top=%d" % ROWS, "--format=" + form) for form in ("text", "json"))
    report = json.loads(data)
    every = report["ranking"]["rows"]  # the text has those of the rest, which come last, in one line
    shown = sum(not row["rest"] for row in every)
    samples = report["samples"]["total"]
    places = [place for place, row in enumerate(every) if is_of(row, case.object)]
    told = finding_of(report, case.object)
    if case.pays and not places and not told:
        raise Failed("%s: no row of the report is %s" % (case.name, " of ".join(case.object.values())))
    known = {"rows": shown, "samples": samples, "gains": told.get("gains"), "calls": told.get("calls"),
             "finding": report["findings"].index(told) + 1 if told else None}
    findings, rows = blocks(screen)
    if not places:
        named = [text for text in findings if told and text.endswith("[%s]" % told["id"])]
        return {"place": None, "row": "", "findings": named, **{key: told.get(key, 0) for key in ("share", "low", "high")}, **known}
    row = every[places[0]]
    place = case.object["method"].split(".")
    named = [text for text in findings if row["allocated_at"] and ".".join(place[-2:]) + ":%d" % row["allocated_at"]["line"]
             in " ".join(text.split()).split(" of the samples")[0]]
    return {"place": places[0] + 1, "row": "" if row["rest"] else rows[places[0]], "findings": named,
            **{key: row[key] for key in ("share", "low", "high")}, **known}


def profile(case, size, home, path, work):
    """Profiles Main with the library as it is."""
    directory = work / "profile"
    shutil.rmtree(directory, ignore_errors=True)
    options = ["--spans=streams,tasks"] if case.span else []
    run(case, size, [str(BUILD / "locus"), "run", "-o", str(directory), *options, "--", *words(case, size, home, path)], work)
    found = finding(case, directory)
    return {**found, "screens": screens(case, size, home, path, work)} if case.peers else found


def screens(case, size, home, path, work):
    """The first screens of Locus and of its peer: {what prints it: text}. The profile of Locus is there already."""
    import benchd  # pylint: disable=import-outside-toplevel  # not needed by those that only read results

    told = {"locus report": told_by_locus("report", work / "profile").rstrip().replace(str(work / "profile"), "profile")}
    library = benchd.fetch.async_profiler(work)
    for name, options in PEERS.items():
        out = work / "peer.txt"
        agent = "-agentpath:%s=start,%s,loglevel=none,flat=%d,file=%s" % (library, options, PEER_ROWS, out)
        run(case, size, words(case, size, home, path, [agent]), work)
        told[name] = first_rows(out.read_text())
    return told


def first_rows(text):
    """The table of an async-profiler's text."""
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if line.split()[1:2] == ["percent"]]
    return "\n".join(line[:WIDTH].rstrip() for line in lines[heads[0]:heads[0] + 2 + PEER_ROWS]) if heads else "(no samples)"


class Kept:
    """Results by case, in a file that is whole at any time."""

    def __init__(self, path):
        self.path = path
        self.cases = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def of(self, case, size, mark):
        """The entry of a case: empty where what it depends on has changed."""
        entry = self.cases.get(case.name)
        if not entry or (entry["mark"], entry["size"]) != (mark, size):
            entry = self.cases[case.name] = {"mark": mark, "size": size, "finding": None, "pairs": []}
        return entry

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.parent / (self.path.name + ".new")
        new.write_text(json.dumps(self.cases, indent=1) + "\n", encoding="utf-8")
        new.replace(self.path)


def pair(case, size, home, paths, work, turn):
    """A run of each version, in an order that changes with the turn."""
    order = VERSIONS if turn % 2 == 0 else VERSIONS[::-1]
    return {version: run(case, size, words(case, size, home, paths[version]), work) for version in order}


def add_pair(case, entry, size, home, ready, work):
    """Measures a pair of a case; first, where that is missing, what the versions are made of and the finding."""
    if case.name not in ready:
        ready[case.name] = prepare(case, home, work)
    paths = ready[case.name]
    entry["finding"] = entry["finding"] or profile(case, size, home, paths["before"], work)
    entry["pairs"].append(pair(case, size, home, paths, work, len(entry["pairs"])))


def measure(cases, size, pairs, home, path=OUT / "cases.json"):
    """Measures what is missing of these cases, a pair of each in turn: all that is kept, and why cases are left out."""
    path, home = path.resolve(), pathlib.Path(home).resolve()  # programs run in another directory
    kept, ready, failed = Kept(path), {}, {}
    for turn in range(pairs):
        for case in cases:
            entry = kept.of(case, size, fingerprint(case, home))
            if len(entry["pairs"]) > turn or case.name in failed:
                continue
            try:
                add_pair(case, entry, size, home, ready, path.parent / (path.name + ".work") / case.name)
            except (Failed, maven.Failed) as error:
                failed[case.name] = str(error)
            kept.write()
    return kept.cases, failed


def ratio(entry, what):
    """The ratio before/after of the pairs: its median, and its 95% interval where there are enough of them."""
    told = stats.median([p["before"][what] / p["after"][what] for p in entry["pairs"]])
    return "%.2f (%.2f to %.2f)" % told if len(entry["pairs"]) >= stats.FEWEST else "%.2f" % told[0]


def with_gains(measured):
    """The cases whose gains were read, of full runs: short ones mostly compile. Changes that pay come first."""
    entries = {name: e for name, e in measured.items() if e["finding"] and "gains" in e["finding"] and e["pairs"] and e["size"] == "full"}
    return [case for case in load() if case.name in entries]


def gain_without(share):
    """The gain if this part of the CPU time were saved."""
    return math.inf if share >= 1 else 1 / (1 - share)


def broken_limits(cases, measured):
    """A text for each finding whose larger gain is no limit of the measured gain, or far above it.

    A case whose change pays may not gain more CPU time than the upper end of the larger gain's interval, by the lower end of
    what is measured. At most OVER_CASES of these may have a larger gain of over OVER times the measured one. A case whose
    change does not pay has no finding, or one of at most NOTHING_GAINED. A gain of null is infinite. If the finding says what
    calls take, the change may gain no more than if there were no calls; if it is to call less often, there is no larger gain.
    """
    broken, over = [], []
    for case in cases:
        entry = measured[case.name]
        gains, calls = entry["finding"]["gains"], entry["finding"].get("calls")
        larger = gains["with_object"] if gains else {"at_most": 1, "high": 1}
        at_most, high = (math.inf if larger[key] is None else larger[key] for key in ("at_most", "high"))
        if calls:
            high = max(high, gain_without(calls["high"]))
            at_most = 1 if calls["less_often"] else at_most
        told = stats.median([p["before"]["cpu"] / p["after"]["cpu"] for p in entry["pairs"]])
        least = told[1] if len(entry["pairs"]) >= stats.FEWEST else told[0]
        if case.pays and least > high:
            broken.append("%s: the change gains %.2fx, more than %.2fx" % (case.name, told[0], high))
        if case.pays and at_most > OVER * told[0]:
            over.append(case.name)
        if not case.pays and at_most > NOTHING_GAINED:
            broken.append("%s: the report says up to %.2fx of an object whose change does not pay" % (case.name, at_most))
    if len(over) > OVER_CASES:
        broken.append("%d cases have a gain of over %.1f times the measured one: %s" % (len(over), OVER, ", ".join(over)))
    return broken


def printed_gain(gain):
    """A gain as a cell of a table."""
    at_most, low, high = (gain[key] for key in ("at_most", "low", "high"))
    if at_most is None or at_most > 10:
        return "more than 10"
    return "%.2f (%.2f to %s)" % (at_most, low, "more" if high is None or high > 10 else "%.2f" % high)


def gains_table(cases, measured):
    """The largest gain by the finding of each case, beside the measured one."""
    lines = ["| case | accesses alone, at most | with the object, at most | measured, CPU time |", "|---|---:|---:|---:|"]
    for case in cases:
        gains, calls = measured[case.name]["finding"]["gains"], measured[case.name]["finding"].get("calls")
        cells = [printed_gain(gains[key]) if gains else "no finding" for key in ("accesses", "with_object")]
        if calls:
            take = "calls take %.1f%% (%.1f to %.1f)" % tuple(100 * calls[key] for key in ("share", "low", "high"))
            cells[1] = take if calls["less_often"] else "%s; %s" % (cells[1], take)
        lines.append("| %s |" % " | ".join([case.name, *cells, ratio(measured[case.name], "cpu")]))
    return "\n".join(lines)


def changed_lines(patch):
    """The lines of a patch that are taken out or put in, by file."""
    lines = []
    for line in patch.read_text(encoding="utf-8").splitlines():
        if line.startswith("+++ b/"):
            lines.append("# " + line[len("+++ b/"):])
        elif line.startswith(("+", "-")) and not line.startswith("---") or line.startswith("@@"):
            lines.append("@@" if line.startswith("@@") else line)
    return "\n".join(lines)


def printed(case, found):
    """The lines of Locus on the case."""
    if case.span:
        return found["printed"]
    said = [*found["findings"], *filter(None, [found["row"]])]
    if not found["place"]:
        said = said or ["(no row of the report, of %d samples, is of this object)" % found["samples"]]
    elif not found["row"]:
        said.append("(one of the rows that the report puts together as the rest; it names %d before)" % found["rows"])
    elif not found["findings"]:
        said.append("(row %d of %d; no finding is of this object)" % (found["place"], found["rows"]))
    return "\n".join(said)


def study(case, entry):
    """The part of the page on one case."""
    found = entry["finding"]
    where = "[`change.patch`](../%s)" % case.patch.relative_to(ROOT)
    texts = [("", printed(case, found))] if "screens" not in found else [("`%s`:\n\n" % name, text) for name, text in found["screens"].items()]
    return "\n\n".join(["### %s: %s" % (case.name, case.library or "streams of the JDK"), "%s %s (%s)" % (case.wrong, case.change, where),
                        *("%s```\n%s\n```" % text for text in texts), *(
                            ["```diff\n%s\n```" % changed_lines(case.patch)] if not case.program else [])])


def table(cases, measured):
    lines = ["| case | library | object | rank | share of the samples | speed-up, CPU time | speed-up, wall clock | pairs |",
             "|---|---|---|---:|---|---|---|---:|"]
    for case in cases:
        entry = measured[case.name]
        found = entry["finding"]
        share = "%.1f%% (%.1f to %.1f)" % tuple(100 * found[key] for key in ("share", "low", "high"))
        share = share if found["place"] or found["findings"] else "no row"
        of = "`%s`" % case.object["class"].split(".")[-1] if "class" in case.object else case.object["says"]
        rank = found["place"] or (found.get("finding") and "finding %d" % found["finding"]) or "none"
        cells = [case.name, case.library.split(":", 1)[1].replace(":", " "), of, rank, share,
                 *(ratio(entry, what) for what in ("cpu", "wall")), len(entry["pairs"])]
        lines.append("| %s |" % " | ".join(map(str, cells)))
    return "\n".join(lines)


INTRO = """Each case is a program that uses a library of Maven Central (`tests/evaluation/cases/`). The finding is what `locus report` prints of the
program as it is; the speed-up is the time of the program as it is divided by that with the change, in pairs of runs in
turn: the median and its 95% interval. Both versions are compiled with the same compiler, and print the same result."""
GAINS = """The gains that the findings print, of the profile of the program as it is, beside what the change gains. A change may gain no more
than the upper end of the larger number; it may be over 1.5 times the measured gain in two cases, and over 1.2 in none whose change does
not pay. If own code can only change how it calls a library, the finding says which part of the CPU time the calls take."""
RANKED_LOW = "Objects that Locus ranks low, though they look wasteful, and the change that does not pay:"


def markdown(measured):
    """The section of docs/EVALUATION.md on all cases of which something was measured; "" where none was."""
    every = load()
    cases = [case for case in every if measured.get(case.name, {}).get("pairs")]
    if not cases:
        return ""
    parts = [INTRO]
    for pays, title in ((True, ""), (False, RANKED_LOW)):
        chosen = [case for case in cases if case.pays == pays and case.object]
        if chosen:
            parts += [title, table(chosen, measured)]
    judged = with_gains(measured)
    if judged:
        parts += [GAINS, gains_table(judged, measured), *("NOT met: %s." % text for text in broken_limits(judged, measured))]
    spans = [(case, measured[case.name], [ratio(measured[case.name], what) for what in ("cpu", "wall")]) for case in cases if case.span]
    parts += [case_spans.INTRO, case_spans.table(spans)] if spans else []
    parts += [study(case, measured[case.name]) for case in cases]
    absent = [case.name for case in every if case not in cases]
    parts += ["Case studies that are not measured here: %s." % ", ".join(absent)] if absent else []
    return "\n\n".join(filter(None, parts)) + "\n"


def home_of(wanted):
    """The JDK that was asked for, or the first of this machine."""
    if wanted:
        return wanted
    found = jdks()
    if not found:
        raise Failed("there is no JDK")
    return found[0][1]


def main():
    parser = argparse.ArgumentParser(description="case studies of what Locus finds in libraries")
    parser.add_argument("--quick", action="store_true", help="one case, one pair of short runs")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="this case")
    parser.add_argument("--pairs", type=int, help="pairs of runs of each case, those of earlier calls included (%d; 1 with --quick)"
                        % PAIRS)
    parser.add_argument("--jdk", type=pathlib.Path, help="home of a JDK (the first of this machine)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where what is measured is kept")
    options = parser.parse_args()
    try:
        cases = load(options.only)
        if options.quick:
            cases = cases[:1]
        size = "quick" if options.quick else "full"
        path = options.json or OUT / ("cases-quick.json" if options.quick else "cases.json")
        measured, failed = measure(cases, size, options.pairs or (1 if options.quick else PAIRS), home_of(options.jdk), path)
    except Failed as error:
        sys.exit("cases: %s" % error)
    print(markdown({case.name: measured[case.name] for case in cases}), end="")
    for error in failed.values():
        print("cases: left out: %s" % error, file=sys.stderr)
    broken = broken_limits([case for case in with_gains(measured) if case in cases], measured)
    for text in broken:
        print("cases: %s" % text, file=sys.stderr)
    return 1 if failed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
