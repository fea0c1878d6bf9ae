"""Figures of the runs, which both the tables and the plots show: ratios, differences, shares, and what they are to be."""

import statistics

import costs
import stats

# What the default of Locus may cost, and how sure its profiles are to be.
GEOMETRIC_TARGET, WORST_TARGET = 1.02, 1.05
MEMORY_TARGET, MEMORY_TARGET_MB = 1.05, 48  # one of them is enough: some programs need little memory
UNEXPLAINED_TARGET = 0.03
OTHERS = costs.VARIANTS[1:]
NAMES = {"locus": "Locus", "locus spans": "Locus, spans", "locus min-size 0": "Locus, --min-size=0"}
KINDS = (("program", "programs"), ("kernel", "kernels"))


def title(variant):
    """What a variant is called for people."""
    return NAMES.get(variant, variant)


def ratios(results, name, variant, field):
    """How many times what the bare run beside it took each run of a variant took."""
    return [other[field] / bare[field] for bare, other in results.pairs(name, variant)]


def more(results, name, variant, field):
    """By how much each run of a variant took more than the bare run beside it."""
    return [other[field] - bare[field] for bare, other in results.pairs(name, variant)]


def measured(results, programs):
    """The programs that have a pair of any variant."""
    return [p for p in programs if any(results.pairs(p.name, v) for v in OTHERS)]


def variants(results):
    """The variants that were run, in order."""
    there = {variant for _, _, variant in results.runs}
    return [v for v in OTHERS if v in there]


def summary(results, programs, variant, field):
    """Of some programs: the geometric mean with its interval, and the worst as (ratio, name); None where there is no pair."""
    each = [(ratios(results, p.name, variant, field), p.name) for p in programs]
    each = [(values, name) for values, name in each if values]
    if not each:
        return None
    worst = max((statistics.median(values), name) for values, name in each)
    return {"mean": stats.bootstrap_geometric([values for values, _ in each]), "worst": worst, "of": len(each),
            "fewest": min(len(values) for values, _ in each)}


def memory_holds(results, name):
    """Is the peak memory with Locus within one of the two targets?"""
    ratio = statistics.median(ratios(results, name, "locus", "rss_mb"))
    return ratio <= MEMORY_TARGET or statistics.median(more(results, name, "locus", "rss_mb")) <= MEMORY_TARGET_MB


def buckets(results, name, variant="locus"):
    """Of all runs of one of Locus's variants: runs, samples by bucket, and the unexplained share of the samples in Java code."""
    reports = [r["report"] for r in results.of(name, variant)]
    if not reports:
        return None
    sums = {bucket: sum(r["samples"][bucket] for r in reports) for bucket in reports[0]["samples"]}
    java = sum(r["java_code"] for r in reports)
    return {"runs": len(reports), "samples": sums,
            "unexplained": (sums["no_address"] + sums["heap_unknown"]) / java if java else None}


def stable(objects):
    """Is the same object first in all runs, and no entry of the top ten there in some runs only?"""
    return objects["firsts"] == 1 and objects["unstable"] == 0


def verdict(holds):
    return "met" if holds else "NOT met"
