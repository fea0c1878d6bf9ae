"""The runs of an evaluation: by program, round and variant."""

import re

from kept import Kept


def slug(name):
    """A program's name as one of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


class Results(Kept):
    """Runs by program, round and variant. What was measured of a program that is called in another way now does not count."""

    def __init__(self, path, calls):
        """`calls`: how each program is called now, by its name; None takes all runs."""
        self.calls, self.runs = calls, {}
        super().__init__(path)

    def count(self, entry):
        if self.calls is None or self.calls.get(entry["program"]) == entry["call"]:
            self.runs[entry["program"], entry["round"], entry["variant"]] = entry

    def rounds(self, program):
        return sorted({number for name, number, _ in self.runs if name == program})

    def pairs(self, program, variant):
        """(bare run, run of the variant) of each round in which both ended as they should."""
        both = [[self.runs.get((program, n, v)) for v in ("bare", variant)] for n in self.rounds(program)]
        return [(bare, other) for bare, other in both if bare and other and "failed" not in {**bare, **other}]

    def of(self, program, variant):
        """The runs of a variant that ended as they should."""
        runs = [self.runs.get((program, n, variant)) for n in self.rounds(program)]
        return [r for r in runs if r and "failed" not in r]

    def failed(self):
        return [r for r in self.runs.values() if "failed" in r]
