# SPDX-License-Identifier: Apache-2.0
"""Write docs/EVALUATION.md, its plots, docs/cost.md and README's line of costs from what was measured.

Parts that were not measured are left out."""

import collections
import dataclasses
import pathlib
import statistics
import subprocess

import agreement
import costs
import drawings
import figures
import literature
import others
import status
import tables
import targets

TITLE = """# Evaluation

`make evaluate` (`scripts/evaluate`) writes this page from its measurements; nobody edits it. `scripts/evaluate --page` writes it
again without measuring, and `scripts/evaluate --status` says what is missing. All numbers are of the build and date below."""

COSTS = """CPU time with each profiler, as a ratio to the run without one in the same round, on the same machine: the median of n pairs and its exact
95% interval of order statistics (none for fewer than six pairs). All variants of a row have the same n, that of the variant with
the fewest pairs; the order of the variants changes with each round. The mean of all programs is the geometric one of the programs' medians,
and its interval resamples the programs: it holds for programs like these, and not for these alone. It is left out if a program has
one pair. A peer's cost does not depend on Locus, so its rounds beside earlier builds count, if machine, system, JDK and versions are
the same. Each run checks its own result; a run with a wrong result does not count.

Programs and kernels are run once each, the JVM's start included. A long form repeats a program in one JVM: it leaves out rounds for 20
seconds and until three of them took equally long, and then measures the CPU time of a round for at least 30 seconds. A server gets requests at a
fixed rate from another process, which no profiler follows; the CPU time of a thousand requests counts, after 20 seconds.

The first table has Locus's default beside its peers. The second one has Locus with `--no-hooks`, which samples allocations, with
`--spans=streams,tasks`, and with `--min-size=0`, which follows every object; `make evaluate` runs these in the first six rounds. `tests/evaluation/programs.json` lists the
programs; [design/cost.md](design/cost.md) explains outliers."""

WALL = "The same for the wall-clock time from start to end."
MEMORY = """Peak resident memory: MB more than the run without a profiler (and that in percent): the median of n pairs, and its 95% interval.
Until November 2026 no run was told to have less than the script that measured it, up to 79 MB: rows of small programs say too little."""
LATENCY = """Latency of the servers in ms: the median of n runs of each percentile, and its 95% interval. A request's time begins when it
is due. At most 16 are under way."""
BUCKETS = """The buckets of the samples of all n runs with Locus's default. Unexplained samples are `no_address` and `heap_unknown`, as a part of
the samples in compiled Java code and its stubs."""
TARGETS = """Targets of Locus, with its default options unless others are named; ratios are to the run without a profiler. Crashes are runs with any
options of Locus that a signal ended; `scripts/evaluate` keeps the JVM's files of a crash below `build/evaluation/`."""
REPEAT = """Results of `locus repeat` for the profiles of the runs above, with Locus's default. The first object of a run is the one with the most
samples; the self-difference is the largest difference between an object's largest and smallest share, of those of 5% and more; an unstable
entry has 1% or more, and is in the top ten of some runs only."""
AGREEMENT = """Results of `locus agree` for each program: its hottest methods by several profilers, which take turns. If all agree, there is one
hottest method, and five are in the top fives; the overlap of two profilers is 100% if they agree in everything. The self-difference is the largest
difference between two runs of a profiler, of methods of 5% and more."""
DELAYS = """Loops of known length before the returns of methods, the hottest of each kernel that can have one, at most three (`--truth`): the part of the
program's time that a delay added, and for each profiler the share that it gives the method less the expected one, in points, and the part of the added time that it found.
The expected share is computed from the method's share without the delay, by the same profiler. If the JIT inlines differently beside a
delay, code of the method counts for another one, with each profiler."""
ACCURACY = "Programs that know their own truth."
KNOWN = "More programs that know their own truth, beside the report."
MERGE = """The speed of `locus merge` with recorded profiles, with profiles of other paths drawn from them, and with invented ones. Paths are call
paths read; all times are divided by that of decompressing the same blocks. Medians, with the least and the most."""
STORMS = "Programs that do nothing but allocate below deep or ever new call paths (`WalkStorms.java`): CPU time without that of the start."
SPANS = """Cycles by Locus divided by the true ones, which are CPU time without Locus: measured ones, with the cost of recording, and
compensated ones, which reports use. Programs that run nothing but streams, or nothing but tasks, have the sum of their spans compared.
Streams and tasks of known length execute a known number of steps; those called `around10` have ten streams inside, which count.
Accuracy is 1 - |compensated - true| / true."""
PARTS = "The CPU time of Locus with each of its parts off."
STATUS = "Measurements of `make evaluate` with this build, and the time that all take. It goes on where it stopped."
LOOPS = "How many loops of libraries get a benchmark by `locus bench` that compiles, and that passes its regression test."
TRUTH = "Benchmarks that `locus bench` makes beside those that were written by hand, and beside themselves without one of its rules."


COST = """# Cost of Locus

`make evaluate` writes this page from its measurements; nobody edits it. [EVALUATION.md](EVALUATION.md) has each program's
figures, the machine and the method."""

COST_TABLE = """CPU time (user and system, start-up included) with each profiler, relative to the unprofiled program: geometric mean of the
programs' medians with its 95% interval, and the worst program. Locus has its default options."""

SAVING = """## How to spend less

- Rewriting classes is the largest part. `--no-hooks` rewrites none: all counts of allocations are estimates
  then, and the line of an object is known only if its allocation was sampled.
- `--interval` sets the CPU time between two samples of a thread (5 ms). `--budget` (2%) bounds the CPU time of samples, call
  paths and Locus's own thread; Locus takes fewer samples rather than exceed the budget.
- `--min-size` sets the size from which objects are tracked (1 KB). `--min-size 0` tracks every object, and can multiply the time
  of a program that mostly allocates.
- `--track CLASS` costs by the objects of the class, some 140 to 160 ns each in hooks, pauses and Locus's own thread, and the JIT
  takes longer ([the parts of the cost](design/cost.md#tracked-classes)). A class of 1% of the
  objects cost 9.6% more CPU time than the default options in a loop that only allocates (0.8 million objects of the class for
  each second of CPU time; n = 9), and 12% in one of six times the length (n = 3). javac took 1.6 times the CPU time with a class of
  13% of the bytes, on deep stacks that change (n = 1, load 5). If a program makes hardly any other objects,
  100 million objects of 24 bytes on two threads took 4.1 times the CPU time of the default options, and 30 million nodes of
  binary trees 5.1 times (n = 7). Up to a second of that is for exact callers. JDK 17, G1, load 1 to 3 on two CPUs.
- `--spans` costs extra for each execution of a stream or task: [spans.md](spans.md).
- `--max-memory` bounds Locus's memory in the program (256 MB, or 5% of the machine or control group if that is less), and
  `--max-profile-size` the profile on disk (4 GB, or a quarter of the free space if that is less).

The line `Locus N%` of a report is a model of hooks, samples, events, its own thread and start-up. It leaves out signal delivery,
the larger code of compiled hooks, and compilations that rewriting causes: the table above includes them."""

COST_BEGIN, COST_END = "<!-- cost: make evaluate writes these lines -->\n", "<!-- end of cost -->\n"


@dataclasses.dataclass
class Measured:
    """All that a page is made of."""

    results: object  # results.Results
    programs: list
    repeats: dict
    directory: pathlib.Path  # of the other measurements' files
    size: str
    cases: str  # markdown, or ""
    broken: list  # where case studies contradict a finding's gain; None without case studies
    status: list  # what there is of each part, as status.py says it

    def text(self, name):
        path = self.directory / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def machines(results):
    """A row for each machine, with the runs that were made there."""
    facts, count = results.facts, collections.Counter(r.get("machine") for r in results.runs.values())
    last = "%s, %d CPUs, %s GB" % (facts["processor"], facts["CPUs"], facts["memory_gb"])
    return [["machine", "%s%s" % (name or last, ": %d runs" % runs if len(count) > 1 else "")] for name, runs in count.most_common()]


def machine(results):
    """Lines on where and of what the numbers are."""
    facts, loads = results.facts, [r["load"] for r in results.runs.values()]
    version = subprocess.run([costs.LOCUS, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    engine = ", sampling by " + facts["async-profiler by"] if "async-profiler by" in facts else ""
    builds = "; beside %d builds of Locus" % results.builds if results.builds > 1 else ""
    rows = [
        ["Locus", "%s, build %s" % (version, facts["build"])],
        *machines(results),
        ["system", facts["system"]],
        ["JDK", facts["jdk"] + ("; " + facts["other jdks"] if facts.get("other jdks") else "")],
        ["peers", "async-profiler %s%s; JFR of the JDK%s" % (facts["async-profiler"], engine, builds)],
        ["date of the last run", facts["date"]],
        ["load of the machine", "%.1f (median of all runs), %.1f at most, of which the runs are a part" % (
            statistics.median(loads), max(loads))],
    ]
    return tables.markdown(["what", "is"], rows)


def section(title, intro, command, body, source=""):
    """A part of the page; "" where there is no body."""
    if not body:
        return ""
    return "\n\n".join(filter(None, ["## " + title, intro, "Command: `%s`." % command if command else "", body,
                                     literature.markdown(source)]))


def image(name, alt):
    return "![%s](%s)" % (alt, name)


def left_out(results):
    """The runs that do not count, by name; "" where all do. Crashes are among the targets."""
    rows = [[r["program"], r["variant"], r["round"] + 1, tables.without_paths(r["failed"])]
            for r in results.failed() if r not in figures.crashes(results)]
    return tables.markdown(["program", "variant", "round", "why"], rows) if rows else ""


def command(measured):
    return "scripts/evaluate --quick" if measured.size == "quick" else "scripts/evaluate --part=costs"


def of_runs(m, plots):
    """The sections that are of the runs of all programs."""
    r, programs, words = m.results, figures.measured(m.results, m.programs), command(m)
    if not programs:
        return []
    cpu = image(plots["cpu"], "CPU time with each profiler, by program") + "\n\n" + "\n\n".join(
        filter(None, [tables.ratio_tables(r, programs, "cpu", "s"), tables.stable_sentence(r, programs)]))
    memory = image(plots["memory"], "Peak memory with each profiler, by program") + "\n\n" + tables.memory_tables(r, programs)
    repeat = tables.repeat_table(m.repeats, programs)
    drawn = image(plots["repeatability"], "How far runs agree, by program") if "repeatability" in plots else ""
    return [
        section("Targets", TARGETS, "make evaluate" if m.size == "full" else words, targets.table(m, m.broken)),
        section("CPU time", COSTS, words, cpu, "costs"),
        section("Run time", WALL, words, tables.ratio_tables(r, programs, "wall", "s")),
        section("Latency of servers", LATENCY, words, tables.latency_table(r, programs)),
        section("Peak memory", MEMORY, words, memory, "memory"),
        section("Samples by bucket", BUCKETS, words, tables.buckets_table(r, programs)),
        section("Repeatability", REPEAT, words, repeat and "\n\n".join(
            filter(None, [drawn, repeat, tables.repeat_sentence(m.repeats)])), "repeatability"),
        section("Runs that were left out", "They ended with an error, with another result, or not at all.", words, left_out(r)),
    ]


def of_others(m):
    """[(name, section)] of the other measurements."""
    return [
        ("agreement", section("Agreement with other profilers", AGREEMENT, agreement.METHODS.command + " -- COMMAND",
                              agreement.markdown(agreement.read(agreement.METHODS, m.directory, m.programs)), "agreement")),
        ("delays", section("Delays of known length", DELAYS, agreement.DELAYS.command + " -- COMMAND",
                           agreement.delays_markdown(agreement.read(agreement.DELAYS, m.directory, m.programs)))),
        ("accuracy", section("Accuracy", ACCURACY, "scripts/evaluate.py", others.accuracy(others.read(m.directory / "accuracy.json")))),
        ("programs that know the truth", section("Estimates, names, findings and nodes", KNOWN, "scripts/evaluate.d/known.py",
                                                 others.known(others.read(m.directory / "known.json")))),
        ("cycles of streams and tasks", section("Cycles of streams and tasks", SPANS, "scripts/bench_spans.py",
                                                others.spans(others.read(m.directory / "spans.json")), "spans")),
        ("costs of the parts", section("Cost of the parts", PARTS, "scripts/bench.py --split --quick --only real", others.parts(m.directory / "split.jsonl"))),
        ("storms", section("Storms of call paths", STORMS, "scripts/bench_storms.py", others.storms(m.text("storms.txt")))),
        ("merging", section("Merging", MERGE, "scripts/bench_merge.py", others.merge(others.read(m.directory / "merge.json")), "merge")),
        ("benchmarks of loops", section("Benchmarks of loops", LOOPS, "scripts/evaluate-bench", others.loops(m.text("loops.txt")), "loops")),
        ("truth of benchmarks", section("Truth of benchmarks", TRUTH, "scripts/evaluate-bench-truth",
                                        others.truth(m.text("truth.txt")), "truth")),
        ("case studies", section("Case studies", "", "", m.cases)),
    ]


def draw(m, target):
    """Writes the plots; returns their names."""
    programs = figures.measured(m.results, m.programs)
    if not programs:
        return {}
    drawn = {"cpu": drawings.cpu(m.results, programs), "memory": drawings.memory(m.results, programs),
             "repeatability": drawings.repeatability(m.repeats, programs)}
    names = {}
    for name, text in drawn.items():
        path = target / ("evaluation-%s.svg" % name)
        if text:
            path.write_text(text, encoding="utf-8")
            names[name] = path.name
        else:
            path.unlink(missing_ok=True)
    return names


def cost_summaries(m):
    """[(kind in the plural, number of programs, {variant: summary})] for programs and kernels that have pairs."""
    group = figures.GROUPS[0]
    told = []
    for kind, plural in figures.KINDS:
        of = [p for p in figures.measured(m.results, m.programs) if p.kind == kind]
        each = {v: figures.summary(m.results, of, group, v, "cpu") for v in ("locus", costs.ASYNC_ALLOC, costs.JFR)}
        if all(s and s["mean"] for s in each.values()):
            told.append((plural, each["locus"]["of"], each))
    return told


def cost_page(m, summaries):
    """docs/cost.md; "" where too little was measured."""
    if not summaries:
        return ""
    rows = []
    for plural, count, each in summaries:
        rows.append(["%d %s, geometric mean" % (count, plural), *(tables.interval(s["mean"], s["of"]) for s in each.values())])
        rows.append(["%d %s, worst" % (count, plural), *("%.3f (%s)" % s["worst"] for s in each.values())])
    worst = targets.worst_of_all(m.results, figures.measured(m.results, m.programs), m.directory)[0]
    rows.append(["everything in EVALUATION.md, worst", "%.3f (%s)" % worst, "", ""])
    heads = ["CPU time", *(figures.title(v) for v in summaries[0][2])]
    return "\n\n".join([COST, COST_TABLE, tables.markdown(heads, rows), SAVING]) + "\n"


def cost_line(summaries):
    """README's lines: the geometric means over the programs."""
    (_, count, each), *_ = summaries
    told = ["%.3f (%.3f to %.3f)" % each[v]["mean"] for v in each]
    return ("CPU time relative to the unprofiled program (geometric mean of %d real programs, 95%% interval):\n"
            "Locus %s, async-profiler (`cpu,alloc`) %s,\n"
            "JFR (`profile`) %s. [cost](docs/cost.md) says what costs and how to spend less.\n" % (count, *told))


def write_costs(m, target):
    """Writes cost.md beside the page, and the line of costs into the README above it, if there is one with a place for it."""
    summaries, readme = cost_summaries(m), target.parent / "README.md"
    if not summaries:
        return
    (target / "cost.md").write_text(cost_page(m, summaries), encoding="utf-8")
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    if COST_BEGIN in text and COST_END in text:
        before, _, rest = text.partition(COST_BEGIN)
        readme.write_text(before + COST_BEGIN + cost_line(summaries) + COST_END + rest.partition(COST_END)[2], encoding="utf-8")


def write(m, target):
    """Writes the page and its plots into a directory; returns the page's path."""
    target.mkdir(parents=True, exist_ok=True)
    parts = [TITLE, machine(m.results), *of_runs(m, draw(m, target))]
    if m.size == "quick":
        parts.insert(1, "**Of one round of short runs, to see that the measurement works: its numbers say little.**")
    rest = of_others(m)
    parts += [text for _, text in rest]
    absent = [name for name, text in rest if not text]
    if absent:
        parts.append("Not measured with this build: %s." % ", ".join(absent))
    if m.size != "quick":
        parts.append(section("Completeness", STATUS, "scripts/evaluate --status", status.table(m.status)))
    page = target / "EVALUATION.md"
    page.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")
    if m.size != "quick":
        write_costs(m, target)
    return page
