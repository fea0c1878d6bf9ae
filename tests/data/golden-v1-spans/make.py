#!/usr/bin/env python3
"""Made tests/data/golden-v1-spans/profile. Not run by the tests: the profile is kept as it was made.

Spans of format 1, all kinds of them, in two blocks of each of two threads. tests/unit/test_span_golden.c
knows the numbers below.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "e2e"))

from synthetic import (FOLDED, FORK_JOIN, SAME_THREAD, SUBMITTED, TIMELINE_NS, Block,  # noqa: E402
                       Profile, frame, spans)

MAIN = frame("com.acme.Main", "main", 10)
OUTER = frame("com.acme.Query", "run", 20)
INNER = frame("com.acme.Query", "lambda$run$0", 21)
PARALLEL = frame("com.acme.Query", "all", 30)
MAKE = frame("com.acme.Jobs", "make", 40)
SUBMIT = frame("com.acme.Jobs", "start", 41)
POOL = frame("com.acme.Jobs", "pool", 50)
ROW = ("com.acme.Row", (frame("com.acme.Table", "load", 60), MAIN))
JOB = "com.acme.Jobs$Job"
START = 2_000_000_000  # of the first block; each lasts a second

profile = Profile(HERE / "profile", spans=spans(calibration_warning="measured under load"),
                  counters={"spans_lost": 0})
for second in range(2):
    now = START + second * 1_000_000_000
    for thread in range(2):
        block = Block()
        block.span("anonymous", (OUTER, MAIN), [1000, 3000], overhead=37, nested=(6, 0, 0, 0),
                   switches=1, intervals=[(now + 10, now + 50_000_000)])
        block.span("anonymous", (INNER,), [200] * 5 + [30], level=1, overhead=37,
                   intervals=[(now + 20, now + 40_000_000)])
        block.span("pulled", (INNER,), [], level=1, executions=2)
        if thread == 0:
            block.span("primordial", (PARALLEL, MAIN), [500_000], overhead=500, nested=(0, 0, 1, 0),
                       gc=(1, 4_000_000), wall_ns=7_000_000)
            block.span("foreign", (MAIN,), [], executions=1)
            block.made(JOB, (MAKE, MAIN), 12)
            block.made(JOB, (MAKE, MAIN), 10, "submit", (SUBMIT, MAIN))
            block.pause(now + 300_000_000, 4_000_000)
            block.trace(1 + 10 * second, "primordial", (PARALLEL, MAIN), now + 5_000, 7_000_000, 500_000,
                        overhead=500)
        else:
            block.span("support", (PARALLEL, MAIN), [800_000, 100], overhead=110, level=0)
            block.span("task", (MAKE, MAIN), [100_000] * 5, type=JOB, submit="submit",
                       submitted=(SUBMIT, MAIN), overhead=60, folded=1, wait=(5, 250_000), switches=3,
                       wall_ns=900_000, intervals=[(now + 100_000_000, now + 900_000_000)])
            block.span("thread", (POOL,), [2**40], type="java.lang.Thread", submit="start",
                       submitted=(POOL,), nested=(0, 0, 0, 5))
            block.trace(2 + 10 * second, "task", (MAKE, MAIN), now + 100_000_000, 180_000, 100_000,
                        type=JOB, outer=3 + 10 * second, logical=77, submit="submit",
                        submitted=(SUBMIT, MAIN), flags=SUBMITTED, creator=0, overhead=60, switches=3,
                        wait_ns=50_000)
            block.trace(4 + 10 * second, "task", (MAKE, MAIN), now + 100_010_000, 1_000, 50, type=JOB,
                        outer=2 + 10 * second, logical=78, level=1, submit="fork", creator=1,
                        flags=FOLDED | SAME_THREAD | FORK_JOIN, overhead=60)
        block.access("object", (OUTER, MAIN), 4, ROW)
        block.span_access("anonymous", (OUTER, MAIN), "object", ROW, (OUTER, MAIN), 3 + thread)
        block.span_access("task", (MAKE, MAIN), "no_address", None, (), 1, type=JOB)
        for i in range(10):
            block.slice(now + i * TIMELINE_NS, 50_000_000 + thread, i, 2 * thread)
        profile.append(block, index=thread, name="worker-%d" % thread, begin=now,
                       end=now + 1_000_000_000)
profile.close()
