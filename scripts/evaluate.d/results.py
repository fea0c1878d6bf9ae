# SPDX-License-Identifier: Apache-2.0
"""The runs of an evaluation: by program, round and variant."""

import re

from kept import Kept

# Facts that are to be equal where runs beside another build of Locus are to count.
OF_MACHINE = ("processor", "CPUs", "memory_gb", "system", "jdk", "async-profiler", "async-profiler by")


def slug(name):
    """A program's name as one of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


class Results(Kept):
    """Runs by program, round and variant. Runs of a program that is called in another way today do not count."""

    def __init__(self, path, calls):
        """`calls`: how each program is called now, by its name; None takes all runs."""
        self.calls, self.runs = calls, {}
        self.elsewhere = {}  # pairs beside other builds, by program and variant
        self.builds = 1  # of which the pairs are
        super().__init__(path)

    def count(self, entry):
        if self.calls is None or self.calls.get(entry["program"]) == entry["call"]:
            self.runs[entry["program"], entry["round"], entry["variant"]] = entry

    def rounds(self, program):
        return sorted({number for name, number, _ in self.runs if name == program})

    def pairs(self, program, variant, base="bare"):
        """(bare run, run of the variant) of each round in which both ended as they should, on one machine."""
        both = [[self.runs.get((program, n, v)) for v in (base, variant)] for n in self.rounds(program)]
        of_build = [(bare, other) for bare, other in both if bare and other and "failed" not in {**bare, **other}
                    and bare.get("machine") == other.get("machine")]
        return of_build + (self.elsewhere.get((program, variant), []) if base == "bare" else [])

    def add_pairs(self, other, variants):
        """Takes the pairs of variants without Locus from the results beside another build, if machine, JDK and versions are the same."""
        if any(self.facts.get(name) != other.facts.get(name) for name in OF_MACHINE):
            return
        taken = {(p, v): other.pairs(p, v) for p in {p for p, _, _ in other.runs} for v in variants}
        for key, pairs in taken.items():
            self.elsewhere.setdefault(key, []).extend(pairs)
        self.builds += any(taken.values())

    def of(self, program, variant):
        """The runs of a variant that ended as they should."""
        runs = [self.runs.get((program, n, variant)) for n in self.rounds(program)]
        return [r for r in runs if r and "failed" not in r]

    def failed(self):
        return [r for r in self.runs.values() if "failed" in r]
