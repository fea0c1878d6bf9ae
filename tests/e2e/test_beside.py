# SPDX-License-Identifier: Apache-2.0
"""Beside other tools: the program ends as with the other tool alone, both tools work, and Locus counts exactly."""

import subprocess
import zipfile

import pytest
from conftest import BUILD, ROOT, Profile, run_command
from helpers import (
    allocations,
    by_hand,
    command,
    complaints,
    counters,
    each_value,
    execute,
    maven,
    report,
    sites_through,
)

ASYNC_PROFILER = "tools.profiler:async-profiler:4.1"
BYTE_BUDDY = "net.bytebuddy:byte-buddy:1.17.7"
BYTE_BUDDY_AGENT = "net.bytebuddy:byte-buddy-agent:1.17.7"
OPEN_TELEMETRY = "io.opentelemetry.javaagent:opentelemetry-javaagent:2.9.0"
WRONG = ("audit_wrong_missing", "audit_wrong_moved", "audit_wrong_overlap")
MADE = 4000  # by Endings "hook", which ends with status 4


def async_profiler(mode):
    def options(jdk, tmp_path):
        jar = maven(ASYNC_PROFILER)
        with zipfile.ZipFile(jar) as archive:
            library = archive.extract("linux-x64/libasyncProfiler.so", tmp_path)
        return ["-agentpath:%s=start,event=%s,file=%s" % (library, mode, tmp_path / "other.jfr")]

    return options


def recorder(jdk, tmp_path):
    file = tmp_path / "other.jfr"
    return ["-Xlog:jfr*=off", "-XX:StartFlightRecording=settings=profile,filename=%s" % file]


def debugger(jdk, tmp_path):
    return ["-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0"]


def byte_buddy(jdk, tmp_path):
    return ["-javaagent:%s" % maven(BYTE_BUDDY_AGENT)]


def telemetry(jdk, tmp_path):
    none = ["-Dotel.%s.exporter=none" % what for what in ("traces", "metrics", "logs")]
    return [*none, "-Dotel.javaagent.logging=none", "-javaagent:%s" % maven(OPEN_TELEMETRY)]


OTHERS = {
    "JFR": recorder,
    "jdwp": debugger,
    **{"async-profiler-" + mode: async_profiler(mode) for mode in ("cpu", "itimer", "alloc", "wall")},
    "byte-buddy": byte_buddy,
    "OpenTelemetry": telemetry,
}


def own_lines(stderr):
    """The output without Locus's and the JVM's warnings: a warning of sharing is there or not by the agents."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    return [line for line in lines if not line.startswith("locus") and "Sharing is only supported" not in line]


def assert_profiled(bare, run, directory, made=MADE, method="allocate", cls="Endings"):
    """The program ended as without Locus, and each allocation was counted. Returns the report."""
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    assert own_lines(run.stderr) == own_lines(bare.stderr)
    profile = Profile(run, directory)
    r = report(profile)
    assert allocations(sites_through(r, method, cls)) == made
    assert counters(profile)["class_disagreements"] == 0
    return r


@pytest.mark.few(3)
@each_value(jdk=[17, 25], first=["Locus", "other"], other=OTHERS)
def test_another_tool_and_locus_both_work(workload, jdk, tmp_path, first, other):
    options = OTHERS[other](jdk, tmp_path)
    line = command(workload, jdk, "Endings", "hook")
    beside = [line[0], *options, *line[1:]]
    bare = execute(beside)
    if bare.returncode != 4:
        pytest.skip("%s alone ends the program with status %d" % (other, bare.returncode))
    (tmp_path / "other.jfr").unlink(missing_ok=True)
    if first == "Locus":
        run = execute(by_hand(beside, tmp_path / "prof"))
    else:
        hand = by_hand(line, tmp_path / "prof")
        run = execute([hand[0], *options, *hand[1:]])
    assert_profiled(bare, run, tmp_path / "prof")
    taken = first == "other" and other.endswith("-alloc")  # the sampled allocations
    assert ["cannot sample allocations" in line for line in complaints(run.stderr)] == [True] * taken
    if other == "JFR" or other.startswith("async"):
        assert (tmp_path / "other.jfr").stat().st_size > 0


@each_value(jdk=[17, 25], first=["Locus", "other"])
def test_another_agent_has_the_sampled_allocations(workload, jdk, tmp_path, first):
    """Only one agent can have them: whoever comes second does without, and Locus says so."""
    library = tmp_path / "libsampled.so"
    include = jdk.home / "include"
    line = ["gcc", "-O2", "-shared", "-fPIC", "-I", include, "-I", include / "linux", "-o", library]
    try:
        subprocess.run([*line, ROOT / "tests" / "tools" / "sampled_agent.c"], check=True, timeout=300)
    except FileNotFoundError:
        pytest.skip("no C compiler on this machine")
    other = "-agentpath:%s" % library
    line = command(workload, jdk, "Endings", "hook")
    bare = execute([line[0], other, *line[1:]])
    assert b"sampled_agent: samples" in bare.stderr
    if first == "Locus":
        run = execute(by_hand([line[0], other, *line[1:]], tmp_path / "prof"))
        if run.returncode == 1:
            pytest.skip("the other agent ends the JVM where it does not get them")
    else:
        hand = by_hand(line, tmp_path / "prof")
        run = execute([hand[0], other, *hand[1:]])
    r = assert_profiled(bare, run, tmp_path / "prof")
    if first == "other":
        assert len(complaints(run.stderr)) == 1, run.stderr
        assert "sampl" in complaints(run.stderr)[0]
        assert not r.get("estimated_objects")


JEMALLOC_CONF = "prof:true,lg_prof_sample:14,prof_active:true,prof_final:true,prof_prefix:%s/heap"
# (library, its environment, what its profiler writes)
ALLOCATORS = {
    "jemalloc": ("libjemalloc.so.2", {}, None),
    "jemalloc-profiled": ("libjemalloc.so.2", {"MALLOC_CONF": JEMALLOC_CONF}, "heap.*.heap"),
    "tcmalloc-minimal": ("libtcmalloc_minimal.so.4", {}, None),
    "tcmalloc": ("libtcmalloc.so.4", {}, None),
    "tcmalloc-profiled": ("libtcmalloc.so.4", {"HEAPPROFILE": "%s/heap", "HEAP_PROFILE_ALLOCATION_INTERVAL": "1000000"}, "heap.*.heap"),
}


@each_value(jdk=[17, 25], allocator=ALLOCATORS, by=["agentpath", "run"])
def test_another_malloc_is_preloaded(workload, jdk, tmp_path, locus, allocator, by):
    """Its copies do not stand before libjvm's, and its profiler walks stacks through our frames."""
    name, extra, written = ALLOCATORS[allocator]
    env = {"LD_PRELOAD": name, **{k: v.replace("%s", str(tmp_path)) for k, v in extra.items()}}
    line = command(workload, jdk, "Endings", "hook", java=["-XX:+UseSerialGC"])
    bare = execute(line, env=env)
    if b"cannot be preloaded" in bare.stderr:
        pytest.skip("no %s on this machine" % name)
    if written and not list(tmp_path.glob(written)):
        pytest.skip("this %s has no profiler: %s" % (name, bare.stderr.decode()[-200:]))
    for file in tmp_path.glob(written or "heap*"):
        file.unlink()
    if by == "run":
        run = execute([BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", "--", *line], env=env)
    else:
        run = execute(by_hand(line, tmp_path / "prof"), env=env)
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    profile = Profile(run, tmp_path / "prof")
    assert allocations(sites_through(report(profile), "allocate", "Endings")) == MADE
    assert counters(profile)["gc_incomplete"] == 0
    assert complaints(run.stderr) == []
    assert not written or list(tmp_path.glob(written))


@pytest.mark.seconds(120)
def test_program_in_a_linked_image(workload, jdk, tmp_path, shared):
    def make(directory):
        modules = ["--add-modules", "java.base,java.management,jdk.management"]
        linked = run_command([jdk.home / "bin" / "jlink", *modules, "--output", directory / "image"])
        if linked.returncode != 0:
            pytest.skip("jlink makes no image of this JDK: %s" % (linked.stdout + linked.stderr)[-200:])

    image = shared("image-%d" % jdk.major, make) / "image"
    line = [image / "bin" / "java", *command(workload, jdk, "Endings", "hook")[1:]]
    bare, run = execute(line), execute(by_hand(line, tmp_path / "prof"))
    assert bare.returncode == 4
    assert_profiled(bare, run, tmp_path / "prof")
    assert complaints(run.stderr) == []


@pytest.mark.parametrize("gc", ["Serial", "G1"])
def test_each_way_to_load_the_agent_gives_the_same_profile(workload, jdk17, tmp_path, gc):
    """By -agentpath alone, by locus run, and by -agentpath with the launcher's library preloaded."""
    line = command(workload, jdk17, "Storm", "collect", 300, java=["-Xmx64m", "-XX:+Use%sGC" % gc])
    preloaded = {"LD_PRELOAD": str(BUILD / "liblocus-preload.so")}
    ways = {
        "agent": (by_hand(line, tmp_path / "agent", "audit=on"), {}),
        "run": ([BUILD / "locus", "run", "-q", "--audit=on", "-o", tmp_path / "run", "--", *line], {}),
        "both": (by_hand(line, tmp_path / "both", "audit=on"), preloaded),
    }
    made = []
    for name, (words, env) in ways.items():
        run = execute(words, env=env)
        assert (run.returncode, complaints(run.stderr)) == (3, []), run.stderr
        profile = Profile(run, tmp_path / name)
        c = counters(profile)
        assert c["gc_incomplete"] == 0 and c["audit_gcs"] > 0 and c["audit_survivors"] > 0
        assert [c[wrong] for wrong in WRONG] == [0, 0, 0]
        sites = sites_through(report(profile), "collect", "Storm")
        made.append(sorted((s["class"], s["allocations"]) for s in sites))
    assert made[0] and made[0] == made[1] == made[2]


@each_value(jdk=[17, 25], gc=["Serial", "G1"])
def test_a_debugger_replaces_a_class_while_it_runs(workload, jdk, tmp_path, shared, gc):
    """The new version has its hooks, and what still runs of the old one keeps its own: no allocation is missed."""

    def make(directory):
        source = ROOT / "tests" / "tools" / "HotSwap.java"
        compiled = run_command([jdk.javac, "-d", directory, source])
        assert compiled.returncode == 0, compiled.stderr

    client = shared("hot-swap-%d" % jdk.major, make)
    port = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
    line = command(workload, jdk, "Server", 8, java=["-XX:+Use%sGC" % gc, "-Xmx128m", port])
    classes = line[line.index("-cp") + 1].split(":")[0]
    hand = [str(word) for word in by_hand(line, tmp_path / "prof")]
    process = subprocess.Popen(hand, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # "Listening for transport dt_socket at address: 12345" and "1 ", whichever comes first.
        listening = next(line for line in process.stdout if line.startswith("Listening"))
        assert next(process.stdout)
        swap = ["HotSwap", listening.split()[-1], "Server", "%s/Server.class" % classes, "20"]
        swapped = run_command([jdk.java, "-cp", client, *swap], timeout=300)
        assert swapped.stdout == "20\n", (process.poll(), swapped.stdout + swapped.stderr)  # None: it runs; 0: it had ended before
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert (process.returncode, complaints(err)) == (0, []), err
    made = int(out.splitlines()[-1].split()[1])
    profile = Profile(subprocess.CompletedProcess(hand, 0, out, err), tmp_path / "prof")
    assert allocations(sites_through(report(profile), "serverAllocate", "Server")) == made
    assert counters(profile)["class_disagreements"] == 0


@pytest.mark.few(1)
@each_value(jdk=[17, 25], gc=["Serial", "G1"], how=["redefine", "retransform"])
@pytest.mark.slow
def test_byte_buddy_instruments_a_hot_class_late(workload, jdk, tmp_path, gc, how):
    """And takes it back: each allocation is counted at its line, and each sample is in the loop.

    Transformers of agents that came later change what Locus has left, so what they put in has no hooks.
    """
    jars = [maven(BYTE_BUDDY), maven(BYTE_BUDDY_AGENT)]
    java = ["-XX:+Use%sGC" % gc, "-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading"]
    line = command(workload, jdk, "Advised", 1000, how, java=java, jars=jars)
    bare = execute(line)
    assert (bare.returncode, bare.stdout) == (4, b"1000 true\n"), bare.stderr
    run = execute(by_hand(line, tmp_path / "prof", "interval=1ms"))
    source = (ROOT / "tests" / "workloads" / "Advised.java").read_text(encoding="utf-8").splitlines()
    at = {mark: 1 + next(i for i, s in enumerate(source) if s.endswith("// " + mark)) for mark in ("read", "make")}
    advised = 1000 if how == "redefine" else 0
    r = assert_profiled(bare, run, tmp_path / "prof", 3000 + advised, "run", "Advised$Hot")
    made = {}
    for site in sites_through(r, "run", "Advised$Hot"):
        leaf = site["allocation_path"][0]["line"]
        made[leaf] = made.get(leaf, 0) + site["allocations"]
    # Code that Byte Buddy copies into a method has no line of its own, or the one before.
    assert made.pop(at["make"]) == 3000 and sum(made.values()) == advised, made
    reads = [
        (access["path"][0]["line"], access["samples"])
        for site in r["sites"]
        for access in site["accesses"]
        if access["path"] and (access["path"][0]["class"], access["path"][0]["method"]) == ("Advised$Hot", "run")
    ]
    # The array is cleared, and its advice may be, at lines of their own; all else is in the loop.
    samples = sum(n for leaf, n in reads if leaf < at["make"])
    assert samples >= 50 and sum(n for leaf, n in reads if 0 <= at["read"] - leaf <= 2) >= 0.9 * samples, reads
    assert max(leaf for leaf, _ in reads) <= at["make"], reads
