# SPDX-License-Identifier: Apache-2.0
"""The state of an evaluation: results, missing ones, and the time that these take."""

import dataclasses

import agreement
import costs
import figures
import tables


@dataclasses.dataclass(frozen=True)
class Row:
    """A part: what it has of what is wanted, and the seconds of the rest and of the whole."""

    name: str
    have: int
    wanted: int
    left: float
    whole: float


def of_costs(results, plan, kind, plural):
    """The runs of the programs of a kind; a run that failed was made."""
    programs = [p for p in plan.programs if p.kind == kind]
    runs = [(p, n, v) for p in programs for n, v in plan.runs(p)]
    seconds = {(p.name, v): costs.expected_seconds(results, p, [v]) for p, v in {(p.name, v): (p, v) for p, _, v in runs}.values()}
    left = [(p.name, v) for p, n, v in runs if (p.name, n, v) not in results.runs]
    return Row("costs, %d %s (runs)" % (len(programs), plural), len(runs) - len(left), len(runs),
               sum(seconds[key] for key in left), sum(seconds[p.name, v] for p, _, v in runs))


def of_agreement(asked, plan, directory):
    """The rounds that `locus agree` has run of each program."""
    wanted = [(p, asked.rounds[p.kind]) for p in plan.programs if p.kind in asked.rounds]
    have, all_of = sum(min(agreement.rounds_done(asked.path(directory, p)), n) for p, n in wanted), sum(n for _, n in wanted)
    return Row("%s (rounds)" % asked.name, have, all_of, asked.seconds * (1 - have / all_of) if all_of else 0, asked.seconds)


def rows(results, plan, parts, asked, directory):
    told = [of_costs(results, plan, kind, plural) for kind, plural in figures.KINDS]
    for part in parts:
        there = (directory / part.file).exists()
        told.append(Row(part.name, int(there), 1, 0 if there else part.seconds, part.seconds))
    return told + [of_agreement(one, plan, directory) for one in asked]


def table(told):
    """The table of results and missing ones for the page."""
    cells = [[r.name, r.have, r.wanted, "" if r.have >= r.wanted else "MISSING: %d" % (r.wanted - r.have), "%.1f" % (r.whole / 3600)]
             for r in told]
    cells.append(["*all*", "", "", "", "%.1f" % (sum(r.whole for r in told) / 3600)])
    return tables.markdown(["part", "has", "of", "", "hours in all"], cells)


def text(told):
    """The same for a terminal, with the time of what is missing."""
    lines = ["%-36s %5d of %5d  %s" % (r.name, r.have, r.wanted, "%.1f h missing" % (r.left / 3600) if r.have < r.wanted else "whole")
             for r in told]
    return "\n".join([*lines, "%.1f of %.1f hours are missing" % (sum(r.left for r in told) / 3600, sum(r.whole for r in told) / 3600)])
