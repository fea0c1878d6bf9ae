# SPDX-License-Identifier: Apache-2.0
"""The table of targets: each with the measured figure, and whether it holds. A figure that was not measured has a row, too."""

import agreement
import costs
import figures
import others
import stats
import tables
from figures import verdict

LIKE_PEER = "as %s" % costs.ASYNC_ALLOC
# For each kind of programs the CPU time's geometric mean, and the worst.
COST = {"program": (LIKE_PEER, 1.10), "kernel": (1.03, 1.05), "long": (1.02, 1.05), "server": (1.02, 1.05)}
WORST = 1.10  # of all that is on the page
MEMORY_MEAN = 1.05
SPANS_OVER_DEFAULT, SPANS_WORST = 1.04, 1.25
SMALL, SMALL_WORST = 1.8, 3.0  # --min-size=0
STORM = 1.5
POINTS = 0.025  # that shares may be off
RIGHT = 0.95  # of intervals and names
SPANS_MEAN, SPANS_LEAST = 0.97, 0.90
CALM_PROGRAMS = 20
ABSENT = "not measured"


def row(what, target, measured, holds):
    return [what, target, measured, verdict(holds)]


def absent(what, target):
    return [what, target, ABSENT, "NOT measured"]


def cpu_rows(results, programs, kind, plural):
    """The CPU time of the programs of a kind."""
    mean, worst = COST[kind]
    title = "CPU time, %%s of %%d %s" % plural
    group = figures.GROUPS[0]
    cpu = figures.summary(results, programs, group, "locus", "cpu")
    if not cpu:
        return [absent("CPU time, %s" % plural, "%s; worst %.2f" % (mean if mean == LIKE_PEER else "%.2f" % mean, worst))]
    rows = []
    if mean == LIKE_PEER:
        peer = figures.summary(results, programs, group, costs.ASYNC_ALLOC, "cpu")
        mean = peer["mean"][0] if peer and peer["mean"] else None
        told = LIKE_PEER + ("" if mean is None else ": %.3f" % mean)
    else:
        told = "%.2f" % mean
    if cpu["mean"]:
        rows.append(absent(title % ("geometric mean", cpu["of"]), told) if mean is None else
                    row(title % ("geometric mean", cpu["of"]), told, tables.mean_of(cpu, programs), cpu["mean"][0] <= mean))
    return [*rows, row(title % ("worst", cpu["of"]), "%.2f" % worst, "%.3f (%s)" % cpu["worst"], cpu["worst"][0] <= worst)]


def worst_of_all(results, programs, directory):
    """[(ratio, name)] of everything on the page that Locus's default was run with, the worst first."""
    each = [figures.row(results, p.name, figures.GROUPS[0], figures.ratios, "cpu").get("locus") for p in programs]
    found = [(stats.median(values)[0], p.name) for p, values in zip(programs, each) if values]
    return sorted([*found, *others.part_ratios(directory / "split.jsonl"), *others.storm_ratios(others.text(directory / "storms.txt"))],
                  reverse=True)


def worst_row(results, programs, directory):
    found = worst_of_all(results, programs, directory)
    return [row("CPU time, worst of everything on this page (%d)" % len(found), "%.2f" % WORST, "%.3f (%s)" % found[0],
                found[0][0] <= WORST)] if found else [absent("CPU time, worst of everything on this page", "%.2f" % WORST)]


def memory_rows(results, programs):
    rss = figures.summary(results, programs, figures.GROUPS[0], "locus", "rss_mb")
    if not rss:
        return [absent("peak memory", "%.2f" % MEMORY_MEAN)]
    beyond = [p.name for p in programs if results.pairs(p.name, "locus") and not figures.memory_holds(results, p.name)]
    mean = [row("peak memory, geometric mean of %d" % rss["of"], "%.2f" % MEMORY_MEAN, tables.mean_of(rss, programs),
                rss["mean"][0] <= MEMORY_MEAN)] if rss["mean"] else []
    return [*mean, row("peak memory, each of %d" % rss["of"], "+%d MB" % figures.MEMORY_TARGET_MB,
                       "beyond: " + ", ".join(beyond) if beyond else "all within", not beyond)]


def option_rows(summary, what, mean, worst):
    """Mean and worst of Locus with other options."""
    if not summary:
        return [absent(what, "%.2f; worst %.2f" % (mean, worst))]
    told = [row(what + ", geometric mean of %d" % summary["of"], "%.2f" % mean, tables.interval(summary["mean"], summary["of"]),
                summary["mean"][0] <= mean)] if summary["mean"] else []
    return [*told, row(what + ", worst of %d" % summary["of"], "%.2f" % worst, "%.3f (%s)" % summary["worst"], summary["worst"][0] <= worst)]


def options(results, programs):
    spans = figures.summary_of({p.name: figures.over_default(results, p.name, "locus spans") for p in programs if p.kind == "program"})
    small = figures.summary(results, programs, figures.GROUPS[1], "locus min-size 0", "cpu")
    return [*option_rows(spans, "spans of streams and tasks, CPU time over the default", SPANS_OVER_DEFAULT, SPANS_WORST),
            *option_rows(small, "--min-size=0, CPU time", SMALL, SMALL_WORST)]


def storm_rows(text):
    found = others.storm_ratios(text)
    if not found:
        return [absent("storms of call paths, CPU time", "%.1f" % STORM)]
    return [row("storms of call paths, CPU time, worst of %d" % len(found), "%.1f" % STORM, "%.2f (%s)" % max(found), max(found)[0] <= STORM)]


def crash_rows(results):
    """The row of crashes: no run with Locus may end by a signal."""
    count = sum(variant in costs.LOCUS_OPTIONS for _, _, variant in results.runs)
    each = ["%s, %s, round %d: signal %d" % (r["program"], figures.title(r["variant"]), r["round"] + 1, costs.signal_of(r["failed"]))
            for r in figures.crashes(results)]
    return [row("crashes in %d runs with Locus" % count, "0", "%d%s" % (len(each), " (%s)" % "; ".join(each) if each else ""),
                not each)] if count else []


def unexplained_rows(results, programs):
    each = [(b["unexplained"], p.name) for p in programs for b in [figures.buckets(results, p.name)]
            if b and b["unexplained"] is not None]
    if not each:
        return []
    share, name = max(each)
    return [row("unexplained samples, worst of %d" % len(each), "%.0f%%" % (100 * figures.UNEXPLAINED_TARGET),
                "%.2f%% (%s)" % (100 * share, name), share < figures.UNEXPLAINED_TARGET)]


def stable_rows(repeats, programs):
    kernels = [p.name for p in programs if p.kind == "kernel" and repeats.get(p.name, {}).get("counted", 0) > 1]
    if not kernels:
        return []
    not_stable = [name for name in kernels if not figures.stable(repeats[name]["objects"])]
    return [row("one first object and no unstable entry, each of %d kernels" % len(kernels), "all",
                "not: " + ", ".join(not_stable) if not_stable else "all", not not_stable)]


def accuracy_rows(told):
    of = [r for r in (told or {}).get("rows", ()) if "worst" in r]
    what, target = "shares of phases of known CPU time", "within %.1f points" % (100 * POINTS)
    if not of:
        return [absent(what, target)]
    worst = max(r["worst"] for r in of)
    wrong = sum(r["disagree"] for r in told["rows"])
    return [row("%s, worst of %d runs" % (what, len(of)), target, "%.1f points" % worst, worst <= 100 * POINTS),
            row("classes that the object's header contradicts", "0", "%d" % wrong, not wrong)]


def of_known(rows, right, count, what, least):
    """A row on how many of the things that are known are right."""
    if not rows:
        return absent(what, "%.0f%%" % (100 * least))
    good, all_of = (sum(r[key] for r in rows) for key in (right, count))
    return row(what, "%.0f%%" % (100 * least), "%d of %d" % (good, all_of), good >= least * all_of)


def calm_row(rows):
    """False findings; fewer programs than are wanted are not enough."""
    what = "false findings in %d programs without a problem" % CALM_PROGRAMS
    programs = {r["mode"] for r in rows or ()}
    if len(programs) < CALM_PROGRAMS:
        return absent(what, "0")
    false = sum(len(r["findings"]) for r in rows)
    return row(what, "0", "%d in %d runs" % (false, len(rows)), not false)


def node_row(rows):
    what, target = "remote part of the time, emulated nodes", "within %.1f points" % (100 * POINTS)
    off = [(abs(r["true"] - r["remote"]), "%s, JDK %d" % (r["mode"], r["jdk"])) for r in rows if "mode" in r]
    return row(what, target, "%.1f points (%s)" % (100 * max(off)[0], max(off)[1]), max(off)[0] <= POINTS) if off else absent(what, target)


def known_rows(told):
    told = told or {}
    return [of_known(told.get("estimates"), "within", "sites", "estimates of objects within their 95% interval", RIGHT),
            of_known(told.get("names"), "right", "patterns", "names of arrays", RIGHT),
            of_known(told.get("findings"), "right", "of", "objects with the right finding alone", 1),
            calm_row(told.get("calm")), node_row(told.get("nodes", ()))]


def span_rows(rows):
    """The accuracy of cycles: of programs of streams, of streams of known length, and of tasks."""
    made = []
    for what, plural, kinds in (("cycles of streams, accuracy", "programs", ("streams",)),
                                ("cycles of streams of known length, accuracy", "streams", ("stream",)),
                                ("cycles of tasks, accuracy", "programs and tasks of known length", ("tasks", "task"))):
        found = [r for r in rows or () if others.span_kind(r) in kinds]
        if not found:
            made.append(absent(what, "%.0f%%" % (100 * SPANS_MEAN)))
            continue
        mean, least = sum(r["accuracy"] for r in found) / len(found), min((r["accuracy"], r["program"]) for r in found)
        made += [row("%s, mean of %d %s" % (what, len(found), plural), "%.0f%%" % (100 * SPANS_MEAN), "%.1f%%" % (100 * mean),
                     mean >= SPANS_MEAN),
                 row("%s, worst of %d %s" % (what, len(found), plural), "%.0f%%" % (100 * SPANS_LEAST),
                     "%.1f%% (%s)" % (100 * least[0], least[1]), least[0] >= SPANS_LEAST)]
    return made


def benchmark_row(text):
    what = "benchmarks that are made, within their limit of an expert's"
    near, of = others.near(text)
    return row(what, "all", "%d of %d" % (near, of), near == of) if of else absent(what, "all")


def interval_row(results, programs):
    """The least coverage of the intervals on the page."""
    counts = {len(values) for p in programs for group in figures.GROUPS
              for values in figures.row(results, p.name, group, figures.ratios, "cpu").values() if len(values) >= stats.FEWEST}
    what, target = "coverage of the intervals of medians", "%.0f%%" % (100 * stats.LEVEL)
    if not counts:
        return absent(what, target)
    least, n = min((stats.coverage(n, stats.rank_of(n)), n) for n in counts)
    return row(what, target, "%.1f%% at least (n = %d)" % (100 * least, n), least >= stats.LEVEL)


def table(m, broken):
    """The table of what was measured; `broken`: where case studies contradict a finding's gain, None without case studies."""
    r, programs = m.results, figures.measured(m.results, m.programs)
    delays = agreement.delays_target(agreement.read(agreement.DELAYS, m.directory, m.programs))
    rows = [each for kind, plural in figures.KINDS for each in cpu_rows(r, [p for p in programs if p.kind == kind], kind, plural)]
    rows += [*worst_row(r, programs, m.directory), *memory_rows(r, programs), *options(r, programs), *storm_rows(m.text("storms.txt")),
             *crash_rows(r), *unexplained_rows(r, programs), *stable_rows(m.repeats, programs), interval_row(r, programs),
             *accuracy_rows(others.read(m.directory / "accuracy.json")), *known_rows(others.read(m.directory / "known.json")),
             *(delays or [absent("delays of known length, at their method", "within %.0f points" % (100 * agreement.DELAY_TARGET))]),
             *span_rows(others.read(m.directory / "spans.json")), benchmark_row(m.text("truth.txt"))]
    what = "gains of findings that case studies contradict"
    rows.append(absent(what, "0") if broken is None else row(what, "0", "; ".join(broken) or "0", not broken))
    return tables.markdown(["what", "target", "measured", ""], rows)
