#!/usr/bin/env python3
"""Made tests/data/golden-v1/profile. Not run by the tests: the profile is kept as it was made.

report.json is what `locus report --format=json profile` printed then, checked by hand.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "e2e"))

from synthetic import Block, Profile, engine, frame  # noqa: E402

MAIN = frame("com.acme.Main", "main", 10)
LOAD = frame("com.acme.Main", "load", 20)
CHASE = frame("com.acme.Chaser$Inner", "chase", 33)
NATIVE = ("java.lang.System", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V", "", None, None)
HIDDEN = frame("com.acme.Main$$Lambda/0x00007f01c4000a00", "run", 1, file="")
ODD = (b"caf\xc3\xa9.\xed\xa0\xbd\xed\xb8\x80\xc0\x80\xed\xa0\xbd\xff", "<init>", "()V", "A.java", 0, 0)

profile = Profile(
    HERE / "profile",
    command="java -cp \"a b\" Main",
    engines=[engine(), engine("fault", "page-faults", 1, "faults")],
    counters={"samples": 100, "lost": 4},
    options={"interval": "5ms", "min-size": "1k"},
)
for step in range(3):
    for thread in range(2):
        block = Block()
        block.allocate("byte[]", (LOAD, MAIN), 7 + step, 7000)
        block.allocate("java.lang.String[][]", (HIDDEN, LOAD, MAIN), 1, 2**40)
        block.access("object", (CHASE, MAIN), 20 + thread, ("byte[]", (LOAD, MAIN)))
        block.access("object", (NATIVE, ODD, MAIN), 5, ("byte[]", (LOAD, MAIN)))
        block.access("object", (), 2, (ODD[0], (ODD,)))
        block.access("object", (MAIN,), 3, ("byte[]", (LOAD, MAIN)), engine=1)
        block.access("heap_class", (CHASE, MAIN), 2)
        for bucket in ("heap_unknown", "jvm", "native", "no_address", "lost"):
            block.count(bucket, 1 + step)
        block.detail(0, 0, 20).detail(0, 3, 3).detail(2, 7, 1)
        second = 10**9
        profile.append(block, index=thread, name="thr\u00e9ad-%d" % thread,
                       begin=(1 + step) * second, end=(2 + step) * second)
profile.close()
