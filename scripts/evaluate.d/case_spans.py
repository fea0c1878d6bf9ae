# SPDX-License-Identifier: Apache-2.0
"""Case studies of streams and tasks: the diagnosis of `locus spans` for a case, and the part of the page on them."""

import re

KEYS = {"pattern", "at", "advice", "published"}  # of what a case wants
RANK = 3  # the worst at which a cause counts as named


def is_of(diagnosis, wanted):
    """Is this diagnosis the case's: of its pattern, and of the method that executes the stream or creates the task?"""
    at = diagnosis["location"] or diagnosis["creation"]
    method = "%s.%s" % (at["class"], at["method"]) if at else ""
    return (diagnosis["pattern"], method, diagnosis["verdict"]) == (wanted["pattern"], wanted["at"], "finding")


def blocks(text):
    """The diagnoses of `locus spans`, in their order, each as it is printed."""
    found = re.split(r"\n\n +\d+\. (?=[a-z-]+ \()", "\n" + text.partition("\nDiagnoses\n")[2])[1:]
    return [told.split("\n\n")[0].rstrip() for told in found]


def share(evidence):
    """The part of the cycles of all spans that the diagnosis prints, as text."""
    told = [re.match(r"([\d.]+%) of the cycles of all spans", each) for each in evidence]
    return next((match[1] for match in told if match), "not told")


def finding(diagnoses, text, wanted):
    """The diagnosis that names the cause, and what is printed of it; an error's text where none does."""
    places = [place for place, each in enumerate(diagnoses) if is_of(each, wanted)]
    if not places:
        return "no diagnosis is a finding of %s at %s: %s" % (wanted["pattern"], wanted["at"], [
            (each["pattern"], each["verdict"], each["why_no_verdict"]) for each in diagnoses])
    place, told = places[0] + 1, diagnoses[places[0]]
    if place > RANK:
        return "%s of %s has rank %d" % (wanted["pattern"], wanted["at"], place)
    if wanted["advice"] not in told["change"]:
        return "the advice says '%s', not '%s'" % (told["change"], wanted["advice"])
    return {"place": place, "rows": len(diagnoses), "printed": "%d. %s" % (place, blocks(text)[place - 1]), "share": share(told["evidence"])}


INTRO = """Streams and tasks: programs as those that the authors of StreamProf and tgp sped up, written anew (`published` is their speed-up, of
other programs and machines). The finding is what `locus spans` prints of a run with `--spans=streams,tasks`. It must have rank 1 to %d,
and its advice must name the change.""" % RANK


def table(rows):
    """Rows: (case, entry, the speed-ups as cells)."""
    lines = ["| case | library | finding | rank | of the cycles of all spans | speed-up, CPU time | speed-up, wall clock | published | pairs |",
             "|---|---|---|---:|---:|---|---|---|---:|"]
    for case, entry, speedups in rows:
        found = entry["finding"]
        library = case.library.split(":", 1)[1].replace(":", " ") if case.library else "JDK"
        cells = [case.name, library, case.span["pattern"], found["place"], found["share"], *speedups,
                 case.span["published"] or "none", len(entry["pairs"])]
        lines.append("| %s |" % " | ".join(map(str, cells)))
    return "\n".join(lines)
