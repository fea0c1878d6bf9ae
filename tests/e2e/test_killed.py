# SPDX-License-Identifier: Apache-2.0
"""The program is killed at any moment: the profile opens, and holds what its last whole block held, and nothing more than there was.

Truths: what the program printed by then, and the times in the headers of the blocks that are whole in the files.
"""

import itertools
import json
import os
import random
import signal
import struct
import subprocess
import time

import pytest
from conftest import BUILD, run_command
from helpers import allocations, by_hand, check_report, command, sites_through
from synthetic import MAGIC
from test_attach import Program

TICK = 500  # allocations that Steady makes before it prints the next line
KEPT = 16  # direct buffers that it keeps, one for each line
HEAD = struct.Struct("<HHIIIQQQII")  # of a block, behind the magic bytes
CHUNK = 4  # programs at a time
MOMENTS = [pytest.param(12, id="few"), pytest.param(200, id="many", marks=[pytest.mark.slow, pytest.mark.seconds(3600)])]
GC = ["Serial", "Parallel", "G1", "Z"]


def whole_blocks(prof):
    """(the thread's index, end in ns) of each block that is whole, and whether a file ends in one that is not."""
    blocks, cut = [], False
    for file in prof.glob("*.lcb"):
        data, at = file.read_bytes(), 0
        while at + len(MAGIC) + HEAD.size <= len(data):
            assert data[at:at + len(MAGIC)] == MAGIC, (file, at)
            _, head, _, _, index, _, _, end, _, stored = HEAD.unpack_from(data, at + len(MAGIC))
            at += head + stored
            if at <= len(data):
                blocks.append((index, end))
        cut |= at != len(data)
    return blocks, cut


def opened(prof, cut):
    """The report of a profile whose program was killed; a block that is not whole is the only damage."""
    done = run_command([BUILD / "locus", "report", "--format=json", "--top=100000", prof])
    if done.returncode == 1 and "is empty" in done.stderr:
        assert not whole_blocks(prof)[0]
        return None
    assert done.returncode == (3 if cut else 0), done.stderr
    assert len(done.stderr.splitlines()) == (1 if cut else 0), done.stderr
    return check_report(json.loads(done.stdout))


def check_killed(process, prof):
    """Steady was killed. Returns whether there was a profile."""
    assert process.returncode == -signal.SIGKILL
    lines = [line.split() for line in process.stdout.read().splitlines()]
    process.stdout.close()
    told = [(int(words[0]), int(words[1])) for words in lines if len(words) == 2]
    if not (prof / "manifest.json").exists():
        assert not told  # the agent starts before the program
        return False
    blocks, cut = whole_blocks(prof)
    report = opened(prof, cut)
    made = allocations(sites_through(report, "steadyAllocate")) if report else 0
    rows = report["ranking"]["rows"] if report else []
    outside = [row["off_heap"] for row in rows if "off_heap" in row and row["allocated_at"]["class"] == "Steady"]
    buffers, freed = (sum(o[k] for o in outside) for k in ("allocated", "freed"))
    most = (told[-1][1] if told else 0) + TICK
    assert made <= most and buffers <= most // TICK and freed <= max(0, most // TICK - KEPT), (made, outside, told[-1:])
    main = min((index for index, _ in blocks), default=None)
    for index, end in blocks:
        if index == main:
            least = max((n for ms, n in told if ms < end // 1_000_000), default=0)
            assert made >= least and buffers >= least // TICK and freed >= least // TICK - KEPT, (made, outside, end, told[-3:])
    return bool(blocks)


@pytest.mark.parametrize("times", MOMENTS)
def test_killed_at_any_moment(workload, jdk17, jdk25, tmp_path, times):
    choice = random.Random(times)
    recorded, latest = 0, 3.5
    # On a busy machine a JVM takes longer to have recorded something: later moments, until some have.
    for first in itertools.chain(range(0, times, CHUNK), range(times, times + 4 * CHUNK, CHUNK)):
        if first >= times:
            if recorded >= times / 8:
                break
            latest *= 2
        running = []
        for i in range(first, first + CHUNK):
            prof = tmp_path / str(i)
            java = ["-XX:+Use%sGC" % GC[i % len(GC)], "-Xmx64m", "-XX:TieredStopAtLevel=1"]
            line = by_hand(command(workload, [jdk17, jdk25][i // 2 % 2], "Steady", java=java), prof, "interval=1ms")
            process = subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            running.append((time.monotonic() + choice.uniform(0.05, latest), process, prof))
        for at, process, prof in sorted(running, key=lambda row: row[0]):
            time.sleep(max(0, at - time.monotonic()))
            process.kill()
            process.wait()
            recorded += check_killed(process, prof)
    assert recorded >= times / 8


def killed_while(asked, process, seconds):
    """Kill the program while a command of ours is asking it for something. Returns what the command said."""
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    out, err = asked.communicate(timeout=300)
    assert asked.returncode in (0, 1), (asked.returncode, out, err)
    assert len(err.splitlines()) == asked.returncode, err
    return out


@pytest.mark.parametrize("times", [pytest.param(2, id="few"), pytest.param(50, id="many", marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", ["attach", "detach"])
def test_killed_during_attach_and_detach(workload, jdk17, jdk25, locus, tmp_path, what, times):
    choice = random.Random(what)
    for i in range(times):
        p = Program(command(workload, [jdk17, jdk25][i % 2], "Attach", 2, "gc", java=["-Xmx128m"]), tmp_path)
        made, prof = 0, tmp_path / ("%d" % i)
        try:
            if what == "detach":
                assert locus("attach", p.pid, "-o", prof).returncode == 0
                made = p.make(500)
            line = [BUILD / "locus", what, str(p.pid), *(["-o", str(prof)] if what == "attach" else [])]
            asked = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            killed_while(asked, p.process, choice.uniform(0, 0.6))
        finally:
            p.process.kill()
            p.process.communicate()
        if not (prof / "manifest.json").exists():
            assert what == "attach"
            continue
        report = opened(prof, whole_blocks(prof)[1])
        counted = allocations(sites_through(report, "make", "Attach$Maker")) if report else 0
        assert counted <= made
        if report and report["processes"][0]["complete"]:
            assert counted == made


@pytest.mark.parametrize("times", [pytest.param(12, id="few"), pytest.param(200, id="many", marks=pytest.mark.slow)])
def test_report_that_is_killed_leaves_no_half(workload, jdk17, profile, tmp_path, times):
    """A file that a report replaces is the old one or the new one."""
    directory = profile(command(workload, jdk17, "ThreadStorm", 50)).directory
    out = tmp_path / "report.html"
    line = [BUILD / "locus", "report", "--format=html", "-f", out, directory]
    begin = time.monotonic()
    assert run_command(line).returncode == 0
    seconds, whole, choice = time.monotonic() - begin, out.read_text(), random.Random(7)
    ended = set()
    for i in range(times):
        if i % 2:
            out.write_text("old")
        else:
            out.unlink(missing_ok=True)
        process = subprocess.Popen([str(word) for word in line])
        time.sleep(choice.uniform(0, 1.2 * seconds))
        process.kill()
        ended.add(process.wait())
        assert not out.exists() or len(out.read_text()) in (len("old"), len(whole))
    assert -signal.SIGKILL in ended
