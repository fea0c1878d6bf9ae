"""Keep the results of runs in a file of JSON lines, so that a long measurement can be made in pieces."""

import json


class State:
    """Records by JDK and program: a list of rounds, each a record for each variant.

    `calls` has how each program is called now; what was measured of other calls, or with another collector, does not
    count. `collector` is None where the JVM chooses.
    """

    def __init__(self, path, calls, collector=None):
        self.path, self.calls, self.collector = path, calls, collector
        self.rounds = {}
        self.facts = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            self.take(json.loads(line))

    def take(self, entry):
        if "fact" in entry:
            self.facts[entry["fact"]] = entry["is"]
        elif entry["call"] == self.calls.get(entry["program"]) and entry.get("collector") == self.collector:
            self.rounds.setdefault((entry["jdk"], entry["program"]), []).append(entry["runs"])

    def append(self, entry):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self.take(entry)

    def note(self, name, value):
        if self.facts.get(name) != value:
            self.append({"fact": name, "is": value})

    def of(self, jdk, program, variants):
        """The rounds that have these variants."""
        return [r for r in self.rounds.get((jdk, program), []) if all(v in r for v in variants)]
