# SPDX-License-Identifier: Apache-2.0
"""Locus's use of memory and of the disk: coarse bounds, on a server that does the same second after second."""

import subprocess

from helpers import by_hand, command, each_value
from test_soak import look

SECONDS = 6
MORE_BYTES = 96 << 20  # resident, at most, with a heap of 128 MB: the README says 12 to 21 MB of a compiler


def watched(line, directory):
    """[(resident bytes, bytes of the profile)] for each second that the server tells."""
    process = subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    seen = []
    try:
        for text in process.stdout:
            if not text.startswith("end"):
                size = sum(file.stat().st_size for file in directory.glob("*"))
                now = look(process.pid, directory)
                if now:  # else it has ended by now
                    seen.append((now[0], size))
        assert process.wait(300) == 0
    finally:
        process.kill()
    return seen


@each_value(jdk=[17, 25], gc=["Serial", "G1"])
def test_memory_and_disk_stay_small(workload, jdk, tmp_path, gc):
    java = ["-XX:+Use%sGC" % gc, "-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"]
    line = command(workload, jdk, "Server", SECONDS, java=java)
    (tmp_path / "none").mkdir()
    bare = watched(line, tmp_path / "none")
    profiled = watched(by_hand(line, tmp_path / "prof"), tmp_path / "prof")
    assert len(bare) >= 3 and len(profiled) >= 3
    resident = max(row[0] for row in bare), max(row[0] for row in profiled)
    assert resident[1] <= resident[0] + MORE_BYTES, resident
    sizes = [row[1] for row in profiled]
    assert sizes[-1] > 0
    # A second adds blocks, not the names and paths of all seconds before: less than 1 MB for some threads.
    assert (sizes[-1] - sizes[1]) / (len(sizes) - 2) < 1 << 20, sizes
