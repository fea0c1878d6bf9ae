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


def interval(values, form="%.3f"):
    """Median and 95% interval; of few values there is none."""
    middle, low, high = stats.bootstrap(values)
    return form % middle + (" [%s, %s]" % (form % low, form % high) if len(values) >= stats.FEWEST else "")


def counted(text, values, most):
    """The text, with how many values it is of where they are fewer than the row tells."""
    return text if len(values) == most else "%s (n = %d)" % (text, len(values))


def ratio_row(results, program, variants, field, form):
    each = [figures.ratios(results, program.name, v, field) for v in variants]
    most = max(map(len, each))
    bare = statistics.median(r[field] for r in results.of(program.name, "bare"))
    return [program.name, most, form % bare, *(counted(interval(values), values, most) if values else "" for values in each)]


def mean_of(summary):
    """The geometric mean, with an interval where each program has enough pairs."""
    return "%.3f [%.3f, %.3f]" % summary["mean"] if summary["fewest"] >= stats.FEWEST else "%.3f" % summary["mean"][0]


def summary_rows(results, programs, variants, field, kind):
    """The geometric mean and the worst of the programs of a kind."""
    each = [figures.summary(results, programs, v, field) for v in variants]
    means = [mean_of(s) if s else "" for s in each]
    worst = ["%.3f (%s)" % s["worst"] if s else "" for s in each]
    title = "*%d %s, %%s*" % (len(programs), kind)
    return [[title % "geometric mean", "", "", *means], [title % "worst", "", "", *worst]]


def ratio_table(results, programs, field, unit, form="%.2f"):
    """Ratios to bare of a field of the runs: a row for each program, a column for each variant."""
    variants = figures.variants(results)
    rows = []
    for kind, plural in figures.KINDS:
        of = [p for p in programs if p.kind == kind]
        rows += [ratio_row(results, p, variants, field, form) for p in of]
        rows += summary_rows(results, of, variants, field, plural) if of else []
    return markdown(["program", "n", "bare, " + unit, *map(figures.title, variants)], rows)


def memory_cell(results, name, variant, most):
    mb = figures.more(results, name, variant, "rss_mb")
    if not mb:
        return ""
    percent = 100 * (statistics.median(figures.ratios(results, name, variant, "rss_mb")) - 1)
    return counted("%s (%+.0f%%)" % (interval(mb, "%+.0f"), percent), mb, most)


def memory_table(results, programs):
    variants = figures.variants(results)
    rows = []
    for p in programs:
        most = max(len(results.pairs(p.name, v)) for v in variants)
        bare = statistics.median(r["rss_mb"] for r in results.of(p.name, "bare"))
        held = verdict(figures.memory_holds(results, p.name)) if results.pairs(p.name, "locus") else ""
        rows.append([p.name, most, "%.0f" % bare, *(memory_cell(results, p.name, v, most) for v in variants), held])
    return markdown(["program", "n", "bare, MB", *map(figures.title, variants), "Locus's target"], rows)


def target_rows(results, programs, kind):
    """Rows for the CPU time of programs of a kind with Locus's default."""
    cpu = figures.summary(results, programs, "locus", "cpu")
    if not cpu:
        return []
    beyond = [p.name for p in programs if results.pairs(p.name, "locus") and not figures.memory_holds(results, p.name)]
    ratio, name = cpu["worst"]
    return [
        ["CPU time, geometric mean of %d %s" % (cpu["of"], kind), "%.2f" % figures.GEOMETRIC_TARGET,
         mean_of(cpu), verdict(cpu["mean"][0] <= figures.GEOMETRIC_TARGET)],
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
    rows += unexplained_rows(results, programs) + stable_rows(repeats, programs) + more
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
