# SPDX-License-Identifier: Apache-2.0
"""Run one command once, as it is or under a profiler, and say what it took."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import usage
from fetch import ROOT

BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve()
HEAP = "-Xmx1g"
# Options of java for each name that --collector takes; GenShen is Shenandoah with generations, which JDK 25 has.
COLLECTORS = {
    "G1": ["-XX:+UseG1GC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "Serial": ["-XX:+UseSerialGC"],
    "Z": ["-XX:+UseZGC"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
    "GenShen": ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
}
OFF = {"no timer": ["--interval=1000s"], "no large": ["--min-size=100m"], "no estimates": ["--sample-interval=0"]}
PARTS = {"locus": [], **OFF, "nothing": sum(OFF.values(), [])}
PEERS = ("async-profiler", "JFR")
AGAIN = "again"  # bare once more: how far the ratios of two equal runs are from 1
OTHER = "other"  # another build of Locus
VARIANTS = ("bare", AGAIN, *PARTS, *PEERS, OTHER)


class Failed(Exception):
    """A program did not end as it should."""


def build_id(build=BUILD):
    """A hash of the measured libraries."""
    both = b"".join((build / name).read_bytes() for name in ("liblocus.so", "liblocus-preload.so"))
    return hashlib.sha256(both).hexdigest()[:12]


def pauses_ms(log):
    """Sum of the stop-the-world pauses in a log of -Xlog:gc."""
    return sum(float(ms) for ms in re.findall(r"Pause .* ([0-9.]+)ms$", log.read_text(), re.M))


def digest(stdout, directory):
    """A hash of what the program printed and of the files that it left."""
    whole = hashlib.sha256(stdout)
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        whole.update(str(path.relative_to(directory)).encode() + path.read_bytes())
    return whole.hexdigest()[:16]


class Machine:
    """The place where programs run: a JDK, and a directory with what they need."""

    def __init__(self, version, home, work, library, other=None, collector=None):
        self.version, self.home, self.work, self.library = version, home, work, library
        self.other = other.resolve() if other else None
        self.collector = COLLECTORS.get(collector, [])

    def has_collector(self):
        """Does this JVM know the collector?"""
        return subprocess.run([self.home / "bin/java", *self.collector, "-version"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def words(self, program, arguments, jars):
        """The command without a profiler."""
        named = {"jar:" + re.sub(r"-[0-9].*", "", pathlib.Path(j).name): j for j in jars}
        values = {"src": self.work / "src", "files": self.work / "files", "core": self.work / "core",
                  "bench": ROOT / "tests/workloads/bench", "run": self.work / "run", **named}
        words = [re.sub(r"\{([^}]+)\}", lambda m: str(values[m[1]]), a) for a in arguments]
        path = ["-cp", ":".join(jars)] if jars else []
        log = "-Xlog:gc:file=%s" % (self.work / "gc.log")
        # A program that names its collector keeps it where none was asked for: HotSpot takes one at most.
        own = [o for o in program.java if not (self.collector and re.fullmatch(r"-XX:\+Use\w+GC", o))]
        return [str(self.home / "bin/java"), HEAP, log, *self.collector, *own, *path, *words]

    def command(self, program, words, variant):
        if variant == "async-profiler":
            options = "start,event=cpu,alloc,loglevel=none,file=%s" % (self.work / "async.jfr")
            return [words[0], "-agentpath:%s=%s" % (self.library, options), *words[1:]]
        if variant == "JFR":
            options = "-XX:StartFlightRecording:settings=profile,filename=%s" % (self.work / "flight.jfr")
            return [words[0], options, "-Xlog:jfr+startup=off", *words[1:]]
        if variant in ("bare", AGAIN):
            return words
        build = self.other if variant == OTHER else BUILD
        # A part that is off stays off where the row has an option of the same name.
        return [str(build / "locus"), "run", "-o", str(self.work / "profile"), *program.locus,
                *PARTS.get(variant, []), "--", *words]

    def engine(self):
        """By what means async-profiler's last run took its samples of CPU time."""
        out = subprocess.run([self.home / "bin/jfr", "print", "--events", "jdk.ActiveSetting", self.work / "async.jfr"],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        found = re.search(r'name = "engine"\s+value = "([^"]+)"', out)
        return found[1] if found else "unknown"

    def run(self, program, words, variant):
        """Runs a command, and returns what it took."""
        for name in ("run", "profile"):
            shutil.rmtree(self.work / name, ignore_errors=True)
        (self.work / "run").mkdir()
        command = self.command(program, words, variant)
        with open(self.work / "out", "wb") as out, open(self.work / "errors", "wb") as errors:
            process = usage.begin(command, self.work / "usage.json", stdout=out, stderr=errors, cwd=self.work / "run")
            status, took = usage.end(process, self.work / "usage.json")
        stdout = (self.work / "out").read_bytes()
        if status != 0:
            told = (self.work / "errors").read_text(errors="replace")[-4000:]
            raise Failed("bench: %s\nended with %d\n%s" % (
                " ".join(command), os.waitstatus_to_exitcode(status), told))
        record = {**took, "pauses_ms": pauses_ms(self.work / "gc.log")}
        if program.figure:
            record["figures"] = json.loads(stdout.splitlines()[-1])
        else:
            record["output"] = digest(stdout, self.work / "run")
        manifest = self.work / "profile/manifest.json"
        if variant in PARTS and manifest.exists():
            counters = json.loads(manifest.read_text())["processes"][0]["counters"]
            record["counters"] = {k: v for k, v in counters.items() if v}
        return record
