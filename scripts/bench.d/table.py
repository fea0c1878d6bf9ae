# SPDX-License-Identifier: Apache-2.0
"""Make figures and tables of the rounds that were run."""

import math
import statistics

from programs import PROGRAMS, REAL
from run import PARTS, PEERS

# Each sample of the one is in an object that must be found; those of the other touch no memory.
HANDLER_TARGETS_US = (("pointer chase", 10), ("arithmetic", 5))
GEOMETRIC_TARGET, PAUSE_TARGET, LEAST_PAUSES_MS = 1.02, 1.02, 50


def quartiles(values):
    """Median, and the range in which the middle half lies."""
    if len(values) < 2:
        return [values[0]] * 3
    low, middle, high = statistics.quantiles(values, n=4)
    return [middle, low, high]


def ratio(program, bare, other, field):
    """How many times what the bare run took another one took."""
    if not program.figure or (program.figure == "each" and field == "wall"):
        return other[field] / bare[field]
    a, b = bare["figures"], other["figures"]
    if program.figure == "each":
        return math.exp(statistics.fmean(math.log(b[name] / a[name]) for name in a))
    name = program.figure if field == "cpu" else "nanoseconds"
    return b[name] / a[name]


def geometric(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def per_sample_us(rounds):
    """The time of a timer sample in the handler; None if there are few."""
    runs = [r["locus"]["counters"] for r in rounds if "counters" in r.get("locus", {})]
    samples = sum(c.get("engine_timer_samples", 0) for c in runs)
    return sum(c.get("engine_handler_us", 0) for c in runs) / samples if samples >= 100 else None


def row(program, rounds, variants):
    """The figures of one program."""
    others = {}
    for variant in variants[1:]:
        each = {"pairs": len(rounds)}
        for field in ("cpu", "wall"):
            each[field] = quartiles([ratio(program, r["bare"], r[variant], field) for r in rounds])
            each[field + "_ms_more"] = quartiles([1000 * (r[variant][field] - r["bare"][field]) for r in rounds])
        each["rss_mb_more"] = statistics.median(r[variant]["rss_mb"] - r["bare"]["rss_mb"] for r in rounds)
        others[variant] = each
    bare = {f: statistics.median(r["bare"][f] for r in rounds) for f in ("cpu", "wall", "rss_mb", "pauses_ms")}
    result = {"name": program.name, "group": program.group, "target": program.target, "bare": bare, "others": others,
              "handler_us": per_sample_us(rounds),
              "same_output": all(len({v.get("output") for v in r.values()}) == 1 for r in rounds)}
    if "locus" in others and program.target:
        locus = others["locus"]
        value = locus["cpu_ms_more"] if program.group == "start" else locus["cpu"]
        result["met"] = value[0] <= program.target
        peers = [others[p]["cpu"] for p in PEERS if p in others]
        if peers:
            slower = max(peers)
            # Beyond the noise: the middle halves of the pairs do not even touch.
            result["slower_than_peers"] = locus["cpu"][0] > slower[0] and locus["cpu"][1] > slower[2]
    return result


def linear(rows):
    """How many times what 25,000 tasks take more 50,000 take more; None where they were not run."""
    more = [r["others"]["locus"]["cpu_ms_more"][0] for r in rows
            if r["name"].endswith("tasks, a thread each") and "locus" in r["others"]]
    return more[1] / more[0] if len(more) == 2 and more[0] > 0 else None


def pauses(state, version, variants):
    """Per round, the mean ratio of all pauses over the real programs that have any to speak of."""
    of = [rounds for p in REAL for rounds in [state.of(version, p.name, variants)]
          if len(rounds) >= 2 and statistics.median(r["bare"]["pauses_ms"] for r in rounds) >= LEAST_PAUSES_MS]
    least = min((len(rounds) for rounds in of), default=0)
    if least < 2:
        return None
    means = [geometric([rounds[i]["locus"]["pauses_ms"] / rounds[i]["bare"]["pauses_ms"] for rounds in of])
             for i in range(least)]
    return {"programs": len(of), "ratio": quartiles(means), "target": PAUSE_TARGET,
            "met": quartiles(means)[0] <= PAUSE_TARGET}


def summary(state, version, variants):
    """All figures of one JDK, as JSON has them."""
    rows = [row(p, rounds, variants) for p in PROGRAMS for rounds in [state.of(version, p.name, variants)] if rounds]
    real = [r for r in rows if r["group"] == "real"]
    result = {"jdk": version, "collector": state.collector, "facts": state.facts, "variants": list(variants), "rows": rows, "linear": linear(rows)}
    if real:
        result["geometric"] = {v: {f: geometric([r["others"][v][f][0] for r in real]) for f in ("cpu", "wall")}
                               for v in variants[1:]}
        result["worst"] = {v: max([r["others"][v]["cpu"][0], r["name"]] for r in real) for v in variants[1:]}
        if "locus" in variants:
            result["met"] = result["geometric"]["locus"]["cpu"] <= GEOMETRIC_TARGET and all(r["met"] for r in real)
            result["pauses"] = pauses(state, version, variants)
    return result


def cell(values, form="%.3f"):
    return form % values[0] + " [%s..%s]" % tuple(form % v for v in values[1:])


def jdk_of(s):
    """The JDK, and the collector where the JVM did not choose it."""
    return "%d %s" % (s["jdk"], s["collector"]) if s["collector"] else str(s["jdk"])


def verdict(r):
    words = [] if "met" not in r else ["met" if r["met"] else "NOT met"]
    if r.get("slower_than_peers"):
        words.append("slower than peers")
    if not r["same_output"]:
        words.append("OTHER OUTPUT")
    return ", ".join(words)


def show(s):
    """A table for reading in a terminal."""
    variants = s["variants"][1:]
    facts = ", ".join("%s %s" % item for item in s["facts"].items())
    print("\nJDK %s; CPU time (ratios to bare: median [quartiles] of pairs; in brackets wall clock). %s" % (
        jdk_of(s), facts))
    print("%-28s %3s %8s %8s " % ("program", "n", "CPU s", "wall s")
          + " ".join("%-30s" % v for v in variants) + " target")
    for r in s["rows"]:
        cells = []
        for v in variants:
            o = r["others"][v]
            text = (cell(o["cpu_ms_more"], "%+.0f") + " ms (%+.0f)" % o["wall_ms_more"][0] if r["group"] == "start"
                    else cell(o["cpu"]) + " (%.2f)" % o["wall"][0])
            cells.append("%-30s" % text)
        target = ("+%g ms" if r["group"] == "start" else "%.2f") % r["target"] if r["target"] else ""
        print("%-28s %3d %8.2f %8.2f %s %s %s" % (
            r["name"], r["others"][variants[0]]["pairs"], r["bare"]["cpu"], r["bare"]["wall"], " ".join(cells), target,
            verdict(r)))
    if "geometric" in s:
        print("%-49s %s %.2f %s" % (
            "geometric mean of the real programs", " ".join(
                "%-30s" % ("%.3f (%.2f)" % (s["geometric"][v]["cpu"], s["geometric"][v]["wall"])) for v in variants),
            GEOMETRIC_TARGET, {True: "met", False: "NOT met"}.get(s.get("met"), "")))
        print("%-49s %s" % ("worst", " ".join("%-30s" % ("%.3f %s" % tuple(s["worst"][v])) for v in variants)))
    if s.get("pauses"):
        print("pauses, %d programs: %s, target %.2f, %s" % (
            s["pauses"]["programs"], cell(s["pauses"]["ratio"]), PAUSE_TARGET,
            "met" if s["pauses"]["met"] else "NOT met"))
    if s["linear"]:
        print("50,000 tasks cost %.2f times what 25,000 cost (linear: 2)" % s["linear"])
    if handler_us(s):
        print("a sample in the handler: %.1f us (median of the programs), %.1f us at most (%s)" % handler_us(s))
    for name, us, target in handler_rows(s):
        print("a sample in the handler, %s: %.1f us, target %g, %s" % (
            name, us, target, "met" if us <= target else "NOT met"))


def markdown(summaries):
    """A table: a column for each JDK and profiler."""
    variants = [v for v in ("locus", *PEERS) if all(v in s["variants"] for s in summaries)]
    named = {"locus": "Locus"}
    head = ["program", *("%s, JDK %s" % (named.get(v, v), jdk_of(s)) for s in summaries for v in variants)]
    lines = [head, ["---"] * len(head)]
    for p in PROGRAMS:
        cells = []
        for s in summaries:
            r = next((r for r in s["rows"] if r["name"] == p.name), None)
            for v in variants:
                o = r["others"][v] if r else None
                cells.append("" if not o else "%+.0f ms" % o["cpu_ms_more"][0] if p.group == "start" else
                             "%.2f (%.2f)" % (o["cpu"][0], o["wall"][0]))
        if any(cells):
            lines.append([p.name, *cells])
        if p is REAL[-1]:
            for title, kind in (("*geometric mean*", "geometric"), ("*worst*", "worst")):
                lines.append([title, *(
                    "" if kind not in s else "%.3f" % s[kind][v]["cpu"] if kind == "geometric" else
                    "%.2f" % s[kind][v][0] for s in summaries for v in variants)])
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([table, *(sentence(s) for s in summaries if "geometric" in s)])


def handler_us(s):
    """The time of a sample in the handler: the median of the real programs, the largest, and its program."""
    each = [(r["handler_us"], r["name"]) for r in s["rows"] if r["group"] == "real" and r["handler_us"]]
    return (statistics.median(us for us, _ in each), *max(each)) if each else None


def handler_rows(s):
    """The time of a sample in the handler if each has an object to find, and if none has; with targets."""
    us = {r["name"]: r["handler_us"] for r in s["rows"]}
    return [(name, us[name], target) for name, target in HANDLER_TARGETS_US if us.get(name)]


def sentence(s):
    """Figures of the real programs of one JDK that have no column in the table."""
    locus = [r["others"]["locus"] for r in s["rows"] if r["group"] == "real"]
    more = [o["rss_mb_more"] for o in locus]
    pairs = min(o["pairs"] for o in locus)
    text = "JDK %s: %d pair%s of the real programs; with Locus their peak memory grows by %.0f MB" % (
        jdk_of(s), pairs, "" if pairs == 1 else "s", statistics.median(more))
    text += " (median; %.0f to %.0f)" % (min(more), max(more))
    if s.get("pauses"):
        text += ", pauses of the collector take %s times as long" % cell(s["pauses"]["ratio"])
    if handler_us(s):
        text += ", a sample takes %.1f us (median; %.1f in %s)" % handler_us(s)
        text += "".join(", %.1f us in %s" % (us, name) for name, us, _ in handler_rows(s))
    return text + "."


def split(summaries):
    """A table: CPU time with Locus, and with each of its parts off."""
    parts = [v for v in PARTS if all(v in s["variants"] for s in summaries)]
    lines = [["program", *("%s, JDK %s" % (v, jdk_of(s)) for s in summaries for v in parts)]]
    lines.append(["---"] * len(lines[0]))
    for p in PROGRAMS:
        found = [next((r for r in s["rows"] if r["name"] == p.name and p.group != "start"), None) for s in summaries]
        if any(found):
            lines.append([p.name, *("%.2f" % r["others"][v]["cpu"][0] if r else "" for r in found for v in parts)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
