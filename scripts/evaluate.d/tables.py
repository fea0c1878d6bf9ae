# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/EVALUATION.md that are of the runs of all programs: costs, memory, samples, repeatability."""

import re
import statistics

import costs
import figures
import stats
from figures import verdict


def without_paths(text):
    """What a program said, without the paths of this machine, none of which is in the page."""
    return re.sub(r"(?<![\w<])/[\w.@+-]+(/[\w.@+-]+)+", "...", text)


def markdown(head, rows):
    """A table; what stands in a cell breaks no column."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def interval(told, count, form="%.3f"):
    """A mean and its 95% interval; of few values there is none."""
    middle, low, high = told
    return form % middle + (" [%s, %s]" % (form % low, form % high) if count >= stats.FEWEST else "")


def bare(results, program, field):
    return statistics.median(r[field] for r in results.of(program.name, "bare"))


def ratio_row(results, program, group, field, form):
    each = figures.row(results, program.name, group, figures.ratios, field)
    if not each:
        return None
    cells = [interval(stats.geometric(each[v]), len(each[v])) if v in each else "" for v in group]
    return [program.name, len(next(iter(each.values()))), form % bare(results, program, field), *cells]


def mean_of(summary, programs):
    """The geometric mean, with its interval where there are enough programs, and their number where some have no pair."""
    if not summary or not summary["mean"]:
        return ""
    return interval(summary["mean"], summary["of"]) + ("" if summary["of"] == len(programs) else " (of %d)" % summary["of"])


def summary_rows(results, programs, group, field, kind):
    """The geometric mean and the worst of the programs of a kind."""
    each = [figures.summary(results, programs, group, v, field) for v in group]
    means = [mean_of(s, programs) for s in each]
    worst = ["%.3f (%s)" % s["worst"] if s else "" for s in each]
    title = "*%d %s, %%s*" % (len(programs), kind)
    return [[title % "geometric mean", "", "", *means]] * any(means) + [[title % "worst", "", "", *worst]]


def groups_here(results):
    """The groups of variants, without those that were not run. Locus alone is no second group."""
    here = figures.variants(results)
    groups = [tuple(v for v in group if v in here) for group in figures.GROUPS]
    return [group for i, group in enumerate(groups) if len(group) > i]


def ratio_tables(results, programs, field, unit, form="%.2f"):
    """Ratios to bare of a field of the runs: a table for each group, a row for each program, a column for each variant."""
    told = []
    for group in groups_here(results):
        rows = []
        for kind, plural in figures.KINDS:
            of = [p for p in programs if p.kind == kind]
            rows += filter(None, [ratio_row(results, p, group, field, form) for p in of])
            rows += summary_rows(results, of, group, field, plural) if of else []
        told.append(markdown(["program", "n", "bare, " + unit, *map(figures.title, group)], rows))
    return "\n\n".join(told)


def memory_cell(mb, ratios):
    return "%s (%+.0f%%)" % (interval(stats.mean(mb), len(mb), "%+.0f"), 100 * (stats.geometric(ratios)[0] - 1))


def memory_row(results, program, group):
    mb, ratios = (figures.row(results, program.name, group, values, "rss_mb") for values in (figures.more, figures.ratios))
    if not mb:
        return None
    held = verdict(figures.memory_holds(results, program.name)) if results.pairs(program.name, "locus") else ""
    return [program.name, len(next(iter(mb.values()))), "%.0f" % bare(results, program, "rss_mb"),
            *(memory_cell(mb[v], ratios[v]) if v in mb else "" for v in group)] + [held] * (group == groups_here(results)[0])


def memory_tables(results, programs):
    told = []
    for i, group in enumerate(groups_here(results)):
        rows = list(filter(None, [memory_row(results, p, group) for p in programs]))
        told.append(markdown(["program", "n", "bare, MB", *map(figures.title, group)] + ["Locus's target"] * (i == 0), rows))
    return "\n\n".join(told)


def target_rows(results, programs, kind):
    """Rows for the CPU time of programs of a kind with Locus's default."""
    cpu = figures.summary(results, programs, figures.GROUPS[0], "locus", "cpu")
    if not cpu:
        return []
    beyond = [p.name for p in programs if results.pairs(p.name, "locus") and not figures.memory_holds(results, p.name)]
    ratio, name = cpu["worst"]
    mean = [["CPU time, geometric mean of %d %s" % (cpu["of"], kind), "%.2f" % figures.GEOMETRIC_TARGET,
             mean_of(cpu, programs), verdict(cpu["mean"][0] <= figures.GEOMETRIC_TARGET)]] if cpu["mean"] else []
    return mean + [
        ["CPU time, worst of %d %s" % (cpu["of"], kind), "%.2f" % figures.WORST_TARGET, "%.3f (%s)" % (ratio, name),
         verdict(ratio <= figures.WORST_TARGET)],
        ["peak memory, each of %d %s" % (cpu["of"], kind),
         "+%.0f%% or +%d MB" % (100 * (figures.MEMORY_TARGET - 1), figures.MEMORY_TARGET_MB),
         "beyond: " + ", ".join(beyond) if beyond else "all within", verdict(not beyond)],
    ]


def unexplained_rows(results, programs):
    each = [(b["unexplained"], p.name) for p in programs for b in [figures.buckets(results, p.name)]
            if b and b["unexplained"] is not None]
    if not each:
        return []
    share, name = max(each)
    return [["unexplained samples, worst of %d" % len(each), "%.0f%%" % (100 * figures.UNEXPLAINED_TARGET),
             "%.2f%% (%s)" % (100 * share, name), verdict(share < figures.UNEXPLAINED_TARGET)]]


def crash_rows(results):
    """What no run with Locus may do: end by a signal."""
    count = sum(variant in costs.LOCUS_OPTIONS for _, _, variant in results.runs)
    if not count:
        return []
    each = ["%s, %s, round %d: signal %d" % (r["program"], figures.title(r["variant"]), r["round"] + 1, costs.signal_of(r["failed"]))
            for r in figures.crashes(results)]
    return [["crashes in %d runs with Locus" % count, "0", "%d%s" % (len(each), " (%s)" % "; ".join(each) if each else ""), verdict(not each)]]


def stable_rows(repeats, programs):
    kernels = [p.name for p in programs if p.kind == "kernel" and repeats.get(p.name, {}).get("counted", 0) > 1]
    if not kernels:
        return []
    not_stable = [name for name in kernels if not figures.stable(repeats[name]["objects"])]
    return [["one first object and no unstable entry, each of %d kernels" % len(kernels), "all",
             "not: " + ", ".join(not_stable) if not_stable else "all", verdict(not not_stable)]]


def targets_table(results, programs, repeats, more):
    """What Locus's default is to reach, and whether it does; `more`: rows of other measurements."""
    rows = []
    for kind, plural in figures.KINDS:
        rows += target_rows(results, [p for p in programs if p.kind == kind], plural)
    rows += crash_rows(results) + unexplained_rows(results, programs) + stable_rows(repeats, programs) + more
    return markdown(["what", "target", "measured", ""], rows)


def unexplained(told):
    """The unexplained share as a cell."""
    return "" if told is None or told["unexplained"] is None else "%.2f%%" % (100 * told["unexplained"])


def buckets_table(results, programs):
    """Where the samples of the runs with Locus's default are, and which of those in Java code it cannot explain."""
    rows, names = [], []
    more = [v for v in costs.LOCUS_OPTIONS if v != "locus" and v in figures.variants(results)]
    for p in programs:
        told = figures.buckets(results, p.name)
        if not told or not told["samples"]["total"]:
            continue
        names = [bucket for bucket in told["samples"] if bucket != "total"]
        total, share = told["samples"]["total"], told["unexplained"]
        rows.append([p.name, told["runs"], total, *("%.1f%%" % (100 * told["samples"][n] / total) for n in names),
                     unexplained(told), "" if share is None else verdict(share < figures.UNEXPLAINED_TARGET),
                     *(unexplained(figures.buckets(results, p.name, v)) for v in more)])
    head = ["program", "runs", "samples", *names, "unexplained", "target: below %.0f%%" % (100 * figures.UNEXPLAINED_TARGET),
            *("unexplained: " + figures.title(v) for v in more)]
    return markdown(head, rows) if rows else ""


def points(share):
    return "" if share is None else "%.1f" % (100 * share)


def repeat_row(program, told):
    objects = told["objects"]
    first = objects["entries"][0]
    target = "" if told["counted"] < 2 else verdict(figures.stable(objects)) if program.kind == "kernel" else ""
    return [program.name, told["counted"], "%.0f" % told["samples"]["mean"], first["label"],
            "%.1f%% [%.1f, %.1f]" % tuple(100 * first["share"][k] for k in ("mean", "least", "most")), objects["firsts"],
            points(objects["largest_difference"]), objects["unstable"], target]


def repeat_table(repeats, programs):
    rows = [repeat_row(p, repeats[p.name]) for p in programs if p.name in repeats and repeats[p.name]["objects"]["entries"]]
    head = ["program", "runs", "samples of a run", "first object", "its share: mean [least, most]", "first objects",
            "self-difference, points", "unstable entries", "kernels' target"]
    return markdown(head, rows) if rows else ""


def repeat_sentence(repeats):
    """What all programs together say."""
    of = [t["objects"] for t in repeats.values() if t["counted"] > 1]
    known = [o["largest_difference"] for o in of if o["largest_difference"] is not None]
    if not known:
        return ""
    one = sum(o["firsts"] == 1 for o in of)
    return "Of %d programs and kernels %d have one first object in all runs; the median self-difference is %.1f points, and " \
        "there are %d unstable entries in all." % (len(of), one, 100 * statistics.median(known), sum(o["unstable"] for o in of))
