# SPDX-License-Identifier: Apache-2.0
"""Keep what was measured in a file of JSON lines, so that a measurement that was stopped goes on there."""

import json


class Kept:
    """Entries of a file, and facts of the whole measurement by name. A subclass says in count() what an entry is."""

    def __init__(self, path):
        self.path, self.facts = path, {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            self.take(json.loads(line))

    def take(self, entry):
        if "fact" in entry:
            self.facts[entry["fact"]] = entry["is"]
        else:
            self.count(entry)

    def count(self, entry):
        raise NotImplementedError

    def append(self, entry):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self.take(entry)

    def note(self, name, value):
        """Keeps a fact."""
        if self.facts.get(name) != value:
            self.append({"fact": name, "is": value})
