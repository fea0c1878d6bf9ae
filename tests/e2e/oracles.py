# SPDX-License-Identifier: Apache-2.0
"""The truth of programs of tests/workloads/, and the same in a report.

The tests assert that both agree, and scripts/evaluate.d/known.py tells how far they do; so nothing here needs pytest.
"""

import json
import math
import pathlib
import re

WORKLOADS = pathlib.Path(__file__).resolve().parents[1] / "workloads"
# For each pattern's array in Names: the method of the pattern, its class, and the names that it has.
# An array that a list makes has the name of the field of the list, not that of what the list is stored in.
NAMES = json.loads((WORKLOADS / "Names.json").read_text(encoding="utf-8"))
# For each mode of Findings: the line that is marked so, and the one kind of finding that names it.
FINDINGS = json.loads((WORKLOADS / "Findings.json").read_text(encoding="utf-8"))
# The allocations of the methods of SampledSites; all others a byte[].
SAMPLED_CLASSES = {"newTiny": "Tiny", "newNode": "Node", "newWide": "Wide", "newKept": "Node", "newDropped": "Node"}
# Fits in the smallest node that the tests lay out. The young generation holds NumaPlacement's array,
# and a whole old generation is there for a collection to move it to.
NUMA_HEAP = ["-Xms192m", "-Xmx192m", "-Xmn96m"]


def marked_lines(name, word):
    """Line numbers of the marker comments "// WORD: NAME" in a workload, by NAME."""
    lines = (WORKLOADS / (name + ".java")).read_text().splitlines()
    mark = "// %s: " % word
    return {line.split(mark)[1].strip(): n for n, line in enumerate(lines, 1) if mark in line}


def has_frame(path, method, cls=None, line=None):
    return any(
        f["method"] == method
        and (cls is None or f["class"] == cls)
        and (line is None or f["line"] == line)
        for f in path
    )


def estimates_of(report, method):
    """Estimates of a method's own objects; loading their class allocates others in its name."""
    name = "SampledSites$" + SAMPLED_CLASSES[method] if method in SAMPLED_CLASSES else "byte[]"
    return [
        e
        for e in report["estimates"]
        if e["class"] == name and has_frame(e["allocation_path"][:1], method, "SampledSites")
    ]


def total_of(estimates, what="objects"):
    """(their sum, half of its 95% interval); the errors of different sites are independent."""
    return sum(e[what] for e in estimates), math.hypot(*(e[what + "_high"] - e[what] for e in estimates))


def names_by_pattern(report):
    """{(method of the pattern, class): sets of names} of all sites below Names."""
    found = {}
    for site in report["sites"]:
        path = site["allocation_path"]
        methods = [f["method"] for f in path if f["class"] == "Names" and f["method"] != "main"]
        if not methods:
            continue
        names = tuple(sorted((n["kind"], n["name"]) for n in site.get("names", [])))
        found.setdefault((methods[-1], site["class"]), set()).add(names)
    return found


def without_code(text):
    """The first screen without its part about the nearest own code."""
    return re.sub(r"^time by own code.*?\n\n", "", text, flags=re.M | re.S)


def kinds_of(report, site):
    """Kinds of the findings whose text names the marked line of Findings."""
    line = marked_lines("Findings", "site")[site]
    return {f["kind"] for f in report["findings"] if re.search(r"Findings\.\w+:%d\b" % line, f["text"])}


def numa_placement(classes, native, mode, *args, collector="Serial", java=()):
    """The command that runs NumaPlacement, whose native library is `native`, in the guest, which is to see both."""
    flags = ["-XX:+Use%sGC" % collector, *NUMA_HEAP, "-Dnative=%s" % native, *java]
    return ["java", *flags, "-cp", str(classes), "NumaPlacement", mode, *map(str, args)]


def matrix_truth(matrix):
    """The remote part of accesses, or of time: rows by node of the thread, columns of the page."""
    whole = sum(map(sum, matrix))
    return 1 - sum(matrix[n][n] for n in range(len(matrix))) / whole


def time_truth(told):
    """Remote part of the CPU time that the loops took."""
    matrices = [phase["cpu_ns"] for phase in told["phases"]]
    return matrix_truth([[sum(cells) for cells in zip(*rows)] for rows in zip(*matrices)])
