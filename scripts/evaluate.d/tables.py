# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/EVALUATION.md that are of the runs of all programs: costs, memory, samples, repeatability."""

import re
import statistics

import costs
import figures
import stats
from figures import verdict


def without_paths(text):
    """A program's output, without the paths of this machine, none of which is in the page."""
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
    """The median of the bare runs; of those beside another build where this one has none yet."""
    elsewhere = [first for (name, _), pairs in results.elsewhere.items() if name == program.name for first, _ in pairs]
    return statistics.median(r[field] for r in results.of(program.name, "bare") or elsewhere)


def ratio_row(results, program, group, field, form):
    each = figures.row(results, program.name, group, figures.ratios, field)
    if not each:
        return None
    cells = [interval(stats.median(each[v]), len(each[v])) if v in each else "" for v in group]
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


def with_group(results, programs, group):
    """The programs that were run with a variant of the group that is not in the first one too."""
    own = group if group[0] != "locus" or group == groups_here(results)[0] else group[1:]
    return [p for p in programs if any(results.pairs(p.name, v) for v in own)]


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
            of = [p for p in with_group(results, programs, group) if p.kind == kind and figures.has(p, field)]
            rows += filter(None, [ratio_row(results, p, group, field, form) for p in of])
            rows += summary_rows(results, of, group, field, plural) if of else []
        told.append(markdown(["program", "n", "bare, " + unit, *map(figures.title, group)], rows))
    return "\n\n".join(told)


def stable_sentence(results, programs):
    """How many runs of long forms were measured though their rounds had not become equally long; "" without long forms."""
    runs = [r for p in programs if p.kind == "long" for v in costs.LONG_VARIANTS for r in results.of(p.name, v)]
    unstable = sum(r.get("stable") == 0 for r in runs)
    return "%d of %d runs of long forms were not stable when the measurement began." % (unstable, len(runs)) if runs else ""


def memory_cell(mb, ratios):
    return "%s (%+.0f%%)" % (interval(stats.median(mb), len(mb), "%+.0f"), 100 * (stats.median(ratios)[0] - 1))


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
        rows = list(filter(None, [memory_row(results, p, group) for p in with_group(results, programs, group)]))
        told.append(markdown(["program", "n", "bare, MB", *map(figures.title, group)] + ["Locus's target"] * (i == 0), rows))
    return "\n\n".join(told)


def latency_table(results, programs):
    """The percentiles of the servers' answers in ms; "" where no server was run."""
    group, rows = groups_here(results)[0], []
    for p in [p for p in programs if p.kind == "server"]:
        for field in figures.LATENCIES:
            each = figures.row(results, p.name, group, figures.latency(field), "latency")
            count = len(next(iter(each.values())))
            alone = stats.median([bare["latency"][field] for bare, _ in results.pairs(p.name, next(iter(each)))][:count])
            rows.append([p.name, field, count, interval(alone, count, "%.2f"),
                         *(interval(stats.median(each[v]), count, "%.2f") if v in each else "" for v in group)])
    return markdown(["server", "percentile", "n", "bare, ms", *map(figures.title, group)], rows) if rows else ""


def unexplained(told):
    """The unexplained share as a cell."""
    return "" if told is None or told["unexplained"] is None else "%.2f%%" % (100 * told["unexplained"])


def buckets_table(results, programs):
    """The buckets of the samples with Locus's default, and the unexplained ones in Java code."""
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
    """The figures of all programs together."""
    of = [t["objects"] for t in repeats.values() if t["counted"] > 1]
    known = [o["largest_difference"] for o in of if o["largest_difference"] is not None]
    if not known:
        return ""
    one = sum(o["firsts"] == 1 for o in of)
    return "%d of %d programs and kernels have one first object in all runs; the median self-difference is %.1f points, and " \
        "there are %d unstable entries in all." % (one, len(of), 100 * statistics.median(known), sum(o["unstable"] for o in of))
