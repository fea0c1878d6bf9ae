# SPDX-License-Identifier: Apache-2.0
"""The results of `make bench`, by JDK and program."""

from kept import Kept


class State(Kept):
    """Records by JDK and program: a list of rounds, each a record for each variant.

    `calls` has how each program is called now; what was measured of other calls, or with another collector, does not
    count. `collector` is None where the JVM chooses.
    """

    def __init__(self, path, calls, collector=None):
        self.calls, self.collector, self.rounds = calls, collector, {}
        super().__init__(path)

    def count(self, entry):
        if entry["call"] == self.calls.get(entry["program"]) and entry.get("collector") == self.collector:
            self.rounds.setdefault((entry["jdk"], entry["program"]), []).append(entry["runs"])

    def of(self, jdk, program, variants):
        """The rounds that have these variants."""
        return [r for r in self.rounds.get((jdk, program), []) if all(v in r for v in variants)]
