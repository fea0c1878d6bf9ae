# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/evaluation/: what there are, how Maven builds them, and how each is called.

A program prints its result as its last line, and ends with an error where it is not the one that programs.json has.
"""

import dataclasses
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests/evaluation"
OUT = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve() / "evaluation"
HEAP = "-Xmx1g"
SIZES = ("full", "quick")


class Failed(Exception):
    """Maven did not build the programs."""


@dataclasses.dataclass(frozen=True)
class Program:
    """An object of programs.json."""

    name: str
    kind: str  # "program" or "kernel", "long" for rounds of one of these in a warm JVM, "server" for one under a load
    module: str  # the directory of its sources, whose pom.xml names its libraries
    main: str
    full: list  # arguments of a run of some 10 seconds
    quick: list  # ... of about a second more than the JVM's start
    java: list  # options of java
    result: dict  # what it prints, for each size
    jdk: int  # the least version
    about: str
    on: int = 0  # the version that it runs on; 0: that of the evaluation


# The options of java, and the JDK, for each word of "forms" in programs.json.
FORMS = {"long": ([], 0), "JDK 17": ([], 17), "Parallel": (["-XX:+UseParallelGC"], 0), "ZGC": (["-XX:+UseZGC"], 0)}
LONG_SECONDS = {"full": ("20", "30"), "quick": ("0.5", "0.5")}  # left out, and CPU time measured


def long_form(program, form):
    """The program in rounds (tests/evaluation/common/Rounds.java), on a JDK or with a collector."""
    options, on = FORMS[form]
    sizes = {size: [*LONG_SECONDS[size], program.main, *getattr(program, size)] for size in SIZES}
    name = program.name + ", long" + ("" if form == "long" else ", " + form)
    return dataclasses.replace(program, name=name, kind="long", main="Rounds", java=[*options, *program.java], on=on, **sizes)


def load():
    """All programs, in the order of the file, and after them their long forms."""
    short, long = [], []
    for entry in json.loads((SOURCES / "programs.json").read_text(encoding="utf-8")):
        forms = entry.pop("forms", ())
        short.append(Program(**entry))
        long += [long_form(short[-1], form) for form in forms]
    return short + long


def modules():
    """The directories of the programs' sources, and the one whose classes they share."""
    return sorted({program.module for program in load()} | {"common"})


def fingerprint(module):
    """A hash of what Maven reads to build a module."""
    whole = hashlib.sha256()
    below = [path for name in ("common", module) for path in (SOURCES / name).rglob("*")]
    for path in [SOURCES / "pom.xml", *sorted(p for p in below if p.suffix in (".java", ".xml"))]:
        whole.update(str(path.relative_to(SOURCES)).encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def class_path(module):
    """The module's classes and the jars of its libraries."""
    libraries = (OUT / module / "classpath").read_text().strip()
    return [str(OUT / module / "classes"), *filter(None, libraries.split(":"))]


def stamp_of(module):
    return OUT / module / "built"


def is_built(module):
    """Is there all that was built of the sources as they are? Maven's repository may have been emptied."""
    stamp = stamp_of(module)
    return (stamp.exists() and stamp.read_text() == fingerprint(module) and (OUT / module / "classpath").exists()
            and all(os.path.exists(entry) for entry in class_path(module)))


def maven(home, wanted):
    """Runs Maven over these modules: from its own repository where that has all, which needs no network."""
    if not shutil.which("mvn"):
        raise Failed("there is no mvn to build tests/evaluation/ with")
    environment = dict(os.environ, JAVA_HOME=str(home))
    for offline in (["-o"], []):
        done = subprocess.run(["mvn", "-q", "-B", *offline, "-f", SOURCES / "pom.xml", "-Dout=%s" % OUT, "-am", "-pl",
                               ",".join(wanted), "process-classes"], env=environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            return
    raise Failed("Maven did not build tests/evaluation/\n" + done.stdout[-4000:])


def build(home, of=None):
    """Compiles the programs `of` a list, or all, and fetches their libraries, with this JDK, where that is not done. The
    classes are those of the least JDK, so they serve all. Processes that call it at once wait for the first."""
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = [m for m in sorted({p.module for p in of or load()}) if not is_built(m)]
        if wanted:
            maven(home, wanted)
        for module in wanted:
            stamp_of(module).write_text(fingerprint(module))


def command(program, size, home):
    """The words of the command, without a profiler; the program checks its result."""
    path = ":".join(class_path(program.module))
    return [str(pathlib.Path(home) / "bin/java"), HEAP, *program.java, "-Dresult=" + program.result[size], "-cp", path,
            program.main, *getattr(program, size)]
