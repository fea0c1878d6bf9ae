# SPDX-License-Identifier: Apache-2.0
"""Figures of the runs, which both the tables and the plots show: ratios, differences, shares, and what they are to be."""

import costs
import stats

# Upper limits: memory that Locus adds, and the unexplained part of the samples in Java code.
MEMORY_TARGET_MB = 48
UNEXPLAINED_TARGET = 0.03
OTHERS = costs.VARIANTS[1:]
# A row compares the variants of a group, each with the same number of rounds.
GROUPS = (("locus", *costs.PEERS), tuple(costs.LOCUS_OPTIONS))
NAMES = {"locus": "Locus", "locus no-hooks": "Locus, --no-hooks", "locus spans": "Locus, spans", "locus min-size 0": "Locus, --min-size=0"}
KINDS = (("program", "programs"), ("kernel", "kernels"), ("long", "long forms"), ("server", "servers"))
LATENCIES = ("p50", "p90", "p99", "p99.9")


def title(variant):
    """The variant's name for people."""
    return NAMES.get(variant, variant)


def ratios(results, name, variant, field):
    """How many times what the bare run beside it took each run of a variant took."""
    return [other[field] / bare[field] for bare, other in results.pairs(name, variant)]


def more(results, name, variant, field):
    """By how much each run of a variant took more than the bare run beside it."""
    return [other[field] - bare[field] for bare, other in results.pairs(name, variant)]


def row(results, name, group, values, field):
    """{variant: values} of a program's row: of each variant of the group that was run as many values as of the one with the fewest.

    `values`: ratios or more.
    """
    each = {variant: values(results, name, variant, field) for variant in group}
    fewest = min((len(of) for of in each.values() if of), default=0)
    return {variant: of[:fewest] for variant, of in each.items() if of}


def latency(field):
    """A function as ratios and more: a percentile of each run of a variant, in ms."""
    return lambda results, name, variant, _field: [other["latency"][field] for _, other in results.pairs(name, variant)]


def has(program, field):
    """Has a program this field? The clock's time of a server under a fixed rate is the load's."""
    return field != "wall" or program.kind != "server"


def measured(results, programs):
    """The programs that have a pair of any variant."""
    return [p for p in programs if any(results.pairs(p.name, v) for v in OTHERS)]


def variants(results):
    """The variants that were run, in order."""
    there = {variant for _, _, variant in results.runs}
    return [v for v in OTHERS if v in there]


def summary(results, programs, group, variant, field):
    """For some programs: the worst as (ratio, name), and the geometric mean with its interval; None where there is no pair.

    The mean is of the programs' medians, and its interval is of these: it says how far other programs like these would be, and
    holds how far runs of each program vary. There is no mean where a program has one pair only.
    """
    return summary_of({p.name: row(results, p.name, group, ratios, field).get(variant) for p in programs})


def summary_of(each):
    """The same of {name: ratios}."""
    of = [(stats.median(values)[0], name) for name, values in each.items() if values]
    if not of:
        return None
    enough = min(len(values) for values in each.values() if values) > 1
    return {"mean": stats.of_programs([ratio for ratio, _ in of]) if enough else None, "worst": max(of), "of": len(of)}


def over_default(results, name, variant):
    """How many times the CPU time of Locus's default each run with other options took, in the same round."""
    return [other["cpu"] / default["cpu"] for default, other in results.pairs(name, variant, "locus")]


def memory_holds(results, name):
    """Is the peak memory with Locus within the target?"""
    return stats.median(row(results, name, GROUPS[0], more, "rss_mb")["locus"])[0] <= MEMORY_TARGET_MB


def buckets(results, name, variant="locus"):
    """For all runs of one of Locus's variants: runs, samples by bucket, and the unexplained share of the samples in Java code."""
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


def crashes(results):
    """The runs with Locus that a signal ended."""
    return [r for r in results.failed() if r["variant"] in costs.LOCUS_OPTIONS and costs.signal_of(r["failed"])]


def verdict(holds):
    return "met" if holds else "NOT met"
