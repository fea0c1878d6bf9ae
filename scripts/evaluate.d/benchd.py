# SPDX-License-Identifier: Apache-2.0
"""The modules of scripts/bench.d that an evaluation uses; some have the names of modules of its own, and both are kept."""

import importlib
import pathlib
import sys

DIRECTORY = pathlib.Path(__file__).resolve().parents[1] / "bench.d"
NAMES = ("programs", "fetch", "run", "state", "table")


def load():
    """The modules by name, imported as scripts/bench.py does it; what has such a name here has it afterwards."""
    own = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}
    sys.path.insert(0, str(DIRECTORY))
    try:
        return {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(DIRECTORY))
        for name in NAMES:
            sys.modules.pop(name, None)
        sys.modules.update(own)


MODULES = load()
fetch, run, state, table, programs = (MODULES[name] for name in ("fetch", "run", "state", "table", "programs"))
