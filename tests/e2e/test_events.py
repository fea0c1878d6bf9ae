# SPDX-License-Identifier: Apache-2.0
"""--event: what cannot be is refused before the program starts, with the nearest right spelling."""

import pathlib
import re

import pytest
from conftest import BUILD, ROOT, run_command

EVENT_SOURCES = pathlib.Path("/sys/bus/event_source/devices")
CPU = pathlib.Path("/proc/cpuinfo").read_text()
INTEL = "GenuineIntel" in CPU
AMD = "AuthenticAMD" in CPU or "HygonGenuine" in CPU
HAS_CPU_PMU = any((EVENT_SOURCES / name).exists() for name in ("cpu", "cpu_core"))
HAS_IBS = (EVENT_SOURCES / "ibs_op").exists()


@pytest.fixture
def refused(tmp_path):
    """Run a program with these options; what locus said, having neither run nor made anything."""

    def run(*options):
        started = tmp_path / "started"
        profile = tmp_path / "profile"
        done = run_command([BUILD / "locus", "run", "-o", profile, *options, "--", "touch", started])
        assert done.returncode == 2, done
        assert not started.exists()
        assert not profile.exists()
        assert done.stdout == ""
        assert done.stderr.startswith("locus: event: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr[len("locus: event: ") : -1]

    return run


# Events that every machine refuses.
WRONG = {
    # unknown
    "tim": "unknown event 'tim'; did you mean 'timer'?",
    "falt": "unknown event 'falt'; did you mean 'fault'?",
    "wach:Node#1": "did you mean 'watch:Node#1'?",
    "peb:l1-miss": "did you mean 'pebs:l1-miss'?",
    "pebs:l1-mis": "did you mean 'l1-miss'?",
    "ibs:l3miss": "did you mean 'l3missonly'?",
    "MEM_LOAD_RETIRD:L3_MISS": "did you mean 'MEM_LOAD_RETIRED:L3_MISS'?",
    "mem_inst_retired.all_store": "did you mean 'MEM_INST_RETIRED:ALL_STORES'?",
    "xyzzyxyzzyxyzzy": "write auto, timer, pebs, ibs, fault, watch:CLASS#N, or an event of libpfm4",
    # without addresses
    "cycles": "'cycles' has no data addresses",
    # periods
    "fault@0": "the period in 'fault@0' is 0",
    "pebs:l2-miss@0": "the period in 'pebs:l2-miss@0' is 0",
    "fault@many": "'@many' in 'fault@many' is not a number of events",
    "fault@-5": "is not a number of events",
    "fault@5@6": "two periods",
    "timer@5": "--interval",
    "ibs@100003": "did you mean @100000?",
    # latency thresholds: libpfm4 would take 2
    "pebs:latency=2": "a latency of '2' cycles is out of range: 3 to 65535",
    "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=2": "a latency of '2' cycles is out of range: 3 to 65535",
    "pebs:latency=65536": "out of range: 3 to 65535",
    "ibs:ldlat=127": "out of range: ldlat=128 to ldlat=2048",
    # watched objects
    "watch": "needs a class; write watch:CLASS#N",
    "watch:java/util/HashMap#1": "did you mean 'java.util.HashMap'?",
    "watch:long#1": "did you mean 'long[]'?",
    "watch:com.acme.Node.next": "did you mean 'com.acme.Node#1.next'?",
    "watch:Node#0": "the first object is #1",
    "watch:Node#1:x": "':x' is not :r, :w or :rw",
    # lists
    "fault,timer": "a comma after 'fault'",
    "fault;": "an event is empty",
    "fault;fault@7": "'fault' is given twice",
    "auto;fault": "auto cannot be combined",
    "timer;alloc": "alloc cannot be combined",
    "cpu@5": "--interval",
    "cpu;timer": "'timer' is given twice",
    # words of other profilers
    "wall": "'wall': Locus samples threads that use a CPU, not threads that wait; use 'timer'",
    "lock": "'lock': Locus does not record waits for locks; use 'timer'",
    "itimer": "'itimer': Locus measures the CPU time of each thread by itself; use 'timer'",
    "nativemem": "'nativemem': Locus tracks Java objects, not malloc()",
    "watch:A#1;watch:A#2;watch:A#3;watch:A#4;watch:A#5": "more than 4 watches",
}


@pytest.mark.parametrize("event", WRONG)
def test_wrong_events_are_refused(refused, event):
    assert WRONG[event] in refused("-e", event)


COUNTED = """
public class Counted {
    static Object kept;
    public static void main(String[] args) {
        long[] hot = new long[1 << 20];
        for (int i = 0; i < 30_000; i++) {
            kept = new byte[2048];
            if (i % 100 == 0) {
                kept = new long[1000];
            }
            for (int k = 0; k < 2000; k++) {
                hot[(i * 31 + k * 8191) & (hot.length - 1)]++;
            }
        }
    }
}
"""


@pytest.fixture
def counted(jdk, tmp_path):
    (tmp_path / "Counted.java").write_text(COUNTED)
    run_command([jdk.javac, "-d", tmp_path, tmp_path / "Counted.java"])
    return [jdk.java, "-cp", str(tmp_path), "Counted"]


def test_alloc_counts_exactly_and_samples_nothing(profile, counted):
    report = profile(counted, "-e", "alloc").report()
    assert report["samples"]["total"] == 0
    counts = {}
    for site in report["sites"]:
        if site["allocation_path"][0]["class"] == "Counted":
            counts[site["class"], site["allocations"]] = site["bytes"]
    assert set(counts) == {("byte[]", 30_000), ("long[]", 300), ("long[]", 1)}
    assert counts["byte[]", 30_000] == 30_000 * (2048 + 16)


def test_report_without_samples_is_of_allocations(locus, counted, tmp_path):
    done = locus("run", "-e", "alloc", "-o", tmp_path / "p", "--", *counted)
    assert (done.returncode, done.stdout) == (0, "")
    assert ": allocations alone; see: locus report " in done.stderr
    text = locus("report", tmp_path / "p").stdout
    assert "no samples were taken (--event=alloc)" in text
    assert re.search(r"\(byte\[\]\) <- Counted\.main:\d+$", text, re.M)


def test_cpu_is_the_timer(profile, counted):
    report = profile(counted, "-e", "cpu").report()
    assert report["samples"]["total"] > 10
    assert [(e["name"], e["event"]) for e in report["engines"]] == [("timer", "thread-cpu-time")]


def test_the_second_of_two_is_checked_too(refused):
    assert "did you mean 'fault'?" in refused("-e", "timer", "-e", "falt")


def test_events_of_another_vendor_are_refused(refused):
    if not INTEL:
        said = refused("-e", "pebs")
        assert re.fullmatch(r"'pebs' needs an Intel CPU, but this CPU is .*; use '(timer|ibs)' here", said)
        said = refused("-e", "MEM_LOAD_RETIRED:L3_MISS:precise=2@100003")
        assert "is an event of Intel CPUs" in said
        assert ("use 'ibs' here" if AMD and HAS_IBS else "use 'timer' here") in said
    if not AMD:
        assert "'ibs' needs an AMD CPU" in refused("-e", "ibs")
        assert "is an event of AMD CPUs" in refused("-e", "RETIRED_UOPS")


def test_a_right_event_that_this_machine_lacks_lets_the_program_start(tmp_path):
    if AMD and not HAS_IBS:
        event = "ibs"
    elif INTEL and not HAS_CPU_PMU:
        event = "pebs"
    else:
        pytest.skip("this machine has the PMU of its vendor")
    started = tmp_path / "started"
    run_command([BUILD / "locus", "run", "-o", tmp_path / "p", "-e", event, "--", "touch", started])
    assert started.exists()


def test_every_word_of_the_grammar_is_in_the_manual():
    manual = re.sub(r"\\f[A-Z]", " ", (ROOT / "docs" / "man" / "locus-run.1.in").read_text().replace("\\-", "-"))
    engines = "".join(p.read_text() for p in [ROOT / "docs/engines.md", *(ROOT / "docs/engines").glob("*.md")])
    words = "auto timer pebs ibs fault watch l1-miss l2-miss l3-miss stlb-loads stlb-stores latency stores"
    words += " cycles ops l3missonly ldlat swfilt"
    for word in words.split():
        assert re.search(r"\b%s\b" % re.escape(word), manual), word
        assert re.search(r"\b%s\b" % re.escape(word), engines), word
