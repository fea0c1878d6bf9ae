#!/usr/bin/env python3
"""Made tests/data/golden-v1-sections/profile. Not run by the tests: the profile is kept as it was made.

All sections of format 1 but MERGED_LINES, which `locus merge` writes. report.json is what `locus report
--format=json profile` printed then; its numbers are those below.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "e2e"))

from synthetic import HITM, LOAD, STORE, STORED, TLB_MISS, Block, Profile, engine, frame  # noqa: E402

MAIN = frame("com.acme.Main", "main", 10)
BUMP = frame("com.acme.Worker", "bump", 20)
CHASE = frame("com.acme.Chaser", "chase", 33)
COUNTERS = ("long[]", (MAIN,))
NODE = ("com.acme.Node", ())
SITES = [("com.acme.Node", (frame("com.acme.List", "add", 5 + i), MAIN)) for i in range(2)]

profile = Profile(
    HERE / "profile",
    engines=[engine("pebs", "MEM_LOAD_RETIRED:L1_MISS", 100_003, "misses", reason="auto: delivers"),
             engine("watch", "watch:long[]#1", 1, "accesses")],
    counters={"engine_watch_counted": 123_456},
)
for thread in range(2):
    block = Block()
    block.allocate(*COUNTERS, 1, 4096)
    block.access("object", (BUMP, MAIN), 30 + thread, COUNTERS)
    block.access("object", (BUMP, MAIN), 2, COUNTERS, engine=1)
    block.access("heap_class", (CHASE, MAIN), 40, NODE)
    block.count("no_address", 3).count("heap_unknown", 1).count("lost", 2)
    block.detail(0, 8, 70).detail(2, 8, 4)
    block.field("object", COUNTERS, (BUMP, MAIN), 30, first=64 * thread, last=64 * thread + 63,
                access=STORE)
    block.field("heap_class", NODE, (CHASE, MAIN), 33, "next", access=LOAD)
    block.field("heap_class", NODE, (CHASE, MAIN), 7, "(mark)")
    block.metric("object", COUNTERS, (BUMP, MAIN), 20, "l3", HITM | STORED, 4000, 900 + thread)
    block.metric("heap_class", NODE, (CHASE, MAIN), 40, "local_dram", TLB_MISS, 9000, 700)
    block.line(2**33 + 1, "object", COUNTERS, (BUMP, MAIN), 20, 16 + 8 * thread, access=STORE,
               first=thread, hitm=thread)
    block.estimate(SITES[thread], 50, 2500, 10_000, 60_000, 2**30, [500, 250, 100, 10, 0])
    for i in range(2):
        block.split("live", NODE, SITES[i], 10 + 20 * i, 4)
        block.split("hits", NODE, SITES[i], 15 + 10 * i, 900)
    profile.append(block, index=thread, name="worker-%d" % thread)
profile.close()
