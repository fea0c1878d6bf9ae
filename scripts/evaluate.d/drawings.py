# SPDX-License-Identifier: Apache-2.0
"""The plots of docs/EVALUATION.md: CPU cost, peak memory and repeatability of all programs."""

import costs
import figures
import plots
import stats

CPU_SCALE_ENDS, MEMORY_SCALE_ENDS = 2.5, 400
# More series in a row cannot be told apart; the tables have the others.
PLOTTED = (*costs.LOCUS_OPTIONS, "async-profiler cpu", costs.ASYNC_ALLOC, costs.JFR)


def variants_of(results):
    return [v for v in figures.variants(results) if v in PLOTTED]


def group_of(variant):
    return next(group for group in figures.GROUPS if variant in group)


def cheapest_first(results, programs, variants, heading):
    """A group for each variant: the geometric mean over the programs, the cheapest on top, with its number."""
    of = [(figures.summary(results, programs, group_of(v), v, "cpu"), v) for v in variants]
    of = sorted(((s["mean"], v) for s, v in of if s and s["mean"]))
    return [plots.Group(figures.title(v), [plots.Dot(*mean, series=variants.index(v), text="%.3f" % mean[0])],
                        heading if i == 0 else "") for i, (mean, v) in enumerate(of)]


def by_program(programs, variants, told, heading):
    """A group for each program, with a dot for each variant of which a mean and its interval are told."""
    groups = []
    for p in programs:
        dots = [plots.Dot(*found, series=i) for i, v in enumerate(variants) for found in [told(p.name, v)] if found]
        if dots:
            groups.append(plots.Group(p.name, dots, "" if groups else heading))
    return groups


def of_kinds(programs, make):
    """The groups of programs, then those of kernels."""
    return [g for kind, plural in figures.KINDS for g in make([p for p in programs if p.kind == kind], plural)]


def mean_of(results, name, variant, values, field, mean):
    """The mean and its interval as the tables have it; None where there is no pair."""
    found = figures.row(results, name, group_of(variant), values, field).get(variant)
    return mean(found) if found else None


def cpu(results, programs):
    variants = variants_of(results)
    groups = of_kinds(programs, lambda of, plural: cheapest_first(
        results, of, variants, "Geometric mean of %d %s, the cheapest first" % (len(of), plural)))
    groups += of_kinds(programs, lambda of, plural: by_program(
        of, variants, lambda name, v: mean_of(results, name, v, figures.ratios, "cpu", stats.median), plural.capitalize()))
    notes = ("Ratio to the run without a profiler beside it: median of the pairs, with its 95% interval; 1 costs nothing.",)
    return plots.draw("CPU time with each profiler", notes, list(map(figures.title, variants)), groups, "%.4g", 1.0, CPU_SCALE_ENDS)


def memory(results, programs):
    variants = variants_of(results)
    groups = of_kinds(programs, lambda of, plural: by_program(
        of, variants, lambda name, v: mean_of(results, name, v, figures.more, "rss_mb", stats.median), plural.capitalize()))
    notes = ("MB more than the run without a profiler beside it: median of the pairs, with its 95% interval.",)
    return plots.draw("Peak memory with each profiler", notes, list(map(figures.title, variants)), groups, "%+.4g", 0.0, MEMORY_SCALE_ENDS)


def repeat_group(program, told, heading):
    objects = told["objects"]
    share = objects["entries"][0]["share"]
    words = "%d first, %d unstable" % (objects["firsts"], objects["unstable"])
    dot = plots.Dot(*(100 * share[k] for k in ("mean", "least", "most")), text=words, hollow=not figures.stable(objects))
    return plots.Group(program.name, [dot], heading)


def repeatability(repeats, programs):
    """None where no program has two runs to compare."""
    def make(of, plural):
        told = [p for p in of if repeats.get(p.name, {}).get("counted", 0) > 1 and repeats[p.name]["objects"]["entries"]]
        return [repeat_group(p, repeats[p.name], "" if i else plural.capitalize()) for i, p in enumerate(told)]
    groups = of_kinds(programs, make)
    if not groups:
        return None
    notes = ("Share of the object that is first over all runs, in % of the samples: mean, with the least and the most of the runs.",
             "A full dot: the same object is first in each run, and no object is in the top ten of some runs only. A hollow one: not so.")
    return plots.draw("How far runs of the same program agree with Locus", notes, [], groups, "%.4g%%", 0.0)
