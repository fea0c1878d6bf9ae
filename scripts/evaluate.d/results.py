"""The runs of an evaluation in a file of JSON lines: a measurement that was stopped goes on there, and the page is made of it."""

import json
import re


def slug(name):
    """A program's name as one of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")


class Results:
    """Runs by program, round and variant. What was measured of a program that is called in another way now does not count."""

    def __init__(self, path, calls):
        """`calls`: how each program is called now, by its name; None takes all runs."""
        self.path, self.calls = path, calls
        self.runs, self.facts = {}, {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            self.take(json.loads(line))

    def take(self, entry):
        if "fact" in entry:
            self.facts[entry["fact"]] = entry["is"]
        elif self.calls is None or self.calls.get(entry["program"]) == entry["call"]:
            self.runs[entry["program"], entry["round"], entry["variant"]] = entry

    def append(self, entry):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self.take(entry)

    def note(self, name, value):
        """Keeps a fact of the whole measurement."""
        if self.facts.get(name) != value:
            self.append({"fact": name, "is": value})

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
