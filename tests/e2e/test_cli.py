# SPDX-License-Identifier: Apache-2.0
"""The command line: what it accepts, what it refuses, and that the program stays itself.

The file is longer than 600 lines: the commands share two recorded programs.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD, JDKS, QUICK_JAVAC, ROOT, run_command
from helpers import command
from synthetic import Block, Profile, frame

HELLO = """
public class Hello {
    public static void main(String[] args) throws Exception {
        System.out.println("out " + String.join(",", args));
        System.err.println("err " + System.getenv("LOCUS_AGENT"));
        if (args.length > 0 && args[0].equals("sleep")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
            System.out.println("ready");
            Thread.sleep(60000);
        }
        if (args.length > 0 && args[0].equals("read")) {
            System.out.println("read " + new String(System.in.readAllBytes()));
        }
        System.exit(args.length > 1 ? Integer.parseInt(args[1]) : 0);
    }
}
"""


HOT = """
public class Hot {
    public static void main(String[] args) {
        long[] hot = new long[1 << 22];
        java.lang.management.ThreadMXBean clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = Long.parseLong(args[0]) * 1_000_000_000L, at = 1;
        while (clock.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 100_000; i++) {
                at = at * 6364136223846793005L + 1442695040888963407L;
                hot[(int) (at >>> 42)] += at;
            }
        }
        System.out.println("done");
    }
}
"""


@pytest.fixture(scope="module")
def hot(shared):
    """The command that runs Hot for some seconds of CPU time: most of its time is in one array."""
    if not JDKS:
        pytest.skip("no JDK on this machine")
    jdk = JDKS[min(JDKS)]

    def make(directory):
        (directory / "Hot.java").write_text(HOT)
        subprocess.run([jdk.javac, *QUICK_JAVAC, "-d", directory, directory / "Hot.java"], check=True)

    path = shared("hot", make)
    return lambda seconds: [jdk.java, "-cp", str(path), "Hot", str(seconds)]


@pytest.fixture(scope="module")
def hello(shared):
    """A class path with Hello, and the oldest JDK to run it."""
    if not JDKS:
        pytest.skip("no JDK on this machine")
    jdk = JDKS[min(JDKS)]

    def make(directory):
        (directory / "Hello.java").write_text(HELLO)
        subprocess.run([jdk.javac, *QUICK_JAVAC, "-d", directory, directory / "Hello.java"], check=True)

    return jdk, str(shared("hello", make))


MAIN = frame("com.acme.Main", "main", 10)
USAGE, TOOL = 2, 125  # exit statuses
COMMANDS = ("run", "report", "numa", "spans", "repeat", "bench", "merge", "calibrate", "doctor")


def one_line(text):
    """The message, which must be a single line of the tool's."""
    assert text.startswith("locus: "), text
    assert text.count("\n") == 1 and text.endswith("\n"), text
    return text[len("locus: ") : -1]


def test_version_and_help_are_printed_on_stdout(locus):
    done = locus("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("locus ")
    for args in (["help"], ["--help"], ["-h"]):
        done = locus(*args)
        assert (done.returncode, done.stderr) == (0, "")
        for command in ("run", "report", "numa", "merge", "doctor"):
            assert "\n  %s " % command in done.stdout
    for command in ("run", "report", "numa", "merge", "doctor"):
        texts = [locus("help", command), locus(command, "--help"), locus(command, "-h")]
        assert {t.returncode for t in texts} == {0}
        assert len({t.stdout for t in texts}) == 1
        assert texts[0].stdout.startswith("usage: locus %s " % command)


@pytest.mark.parametrize("width, columns", [(80, ""), (60, "60"), (80, "80"), (100, "120")])
def test_help_fits_the_terminal(locus, width, columns):
    """Lines have at most 100 columns. Without white space the text is the same at any width."""
    commands = re.findall(r"^  ([a-z-]+) ", locus("help").stdout, re.M)
    assert len(commands) > 16 and "agent-args" in commands
    for command in ([], *([c] for c in commands if c != "help")):
        done = locus("help", *command, env={**os.environ, "COLUMNS": columns})
        assert done.returncode == 0 and max(map(len, done.stdout.splitlines())) <= width, (command, done.stdout)
        assert "".join(done.stdout.split()) == "".join(locus("help", *command).stdout.split())


def test_examples_of_manual_pages_use_options_that_exist(locus):
    pages = sorted((ROOT / "docs" / "man").glob("locus*.1.in"))
    found = 0
    for page in pages:
        text = page.read_text().replace("\\-", "-")
        for line in re.findall(r"^locus [a-z].*", text[text.find(".SH EXAMPLES"):] if ".SH EXAMPLES" in text else "", re.M):
            command, *words = line.split(" -- ")[0].split()[1:]
            shown = locus("help", command)
            assert shown.returncode == 0, (page.name, line)
            known = set(re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", shown.stdout, re.M))
            for word in words:
                if word.startswith("--"):
                    found += 1
                    assert word.partition("=")[0] in known, (page.name, line)
    assert found > 20


def test_help_and_manual_list_every_option(locus):
    table = (ROOT / "src" / "base" / "options.def").read_text()
    names = [line.split('"')[1] for line in table.splitlines() if line.startswith("LC_OPTION(")]
    assert len(names) >= 9
    text = locus("help", "run").stdout
    roff = locus("help", "--roff", "run").stdout.replace("\\", "")
    for name in names:
        assert "--" + name in text
        assert "--" + name in roff


@pytest.mark.parametrize(
    "args, message",
    [
        (["rum"], "unknown command 'rum'; did you mean 'locus run'?"),
        (["reprot", "x"], "unknown command 'reprot'; did you mean 'locus report'?"),
        (["xyzzy"], "unknown command 'xyzzy'; 'locus help' lists them"),
        (["-q"], "unknown option '-q'; 'locus help' lists the commands"),
        (["help", "nothing"], "unknown command 'nothing'; 'locus help' lists them"),
        (["run"], "no command to run; write 'locus run -- java ...'"),
        (["run", "--"], "no command to run; write 'locus run -- java ...'"),
        (
            ["run", "--min-sise=3", "--", "true"],
            "unknown option '--min-sise'; did you mean '--min-size'?",
        ),
        (["report", "--full=off", "."], "--full takes no value"),
        (["doctor", "--json=no"], "--json takes no value"),
        (["run", "-Z", "true"], "unknown option '-Z'; 'locus help run' lists them"),
        (["run", "--output"], "option '--output' needs a value: DIR"),
        (["run", "-i", "5", "true"], "interval: '5' must end in ns, us, ms or s"),
        (["run", "-s", "big", "true"], "min-size: 'big' is not a size, such as 1k"),
        (
            ["run", "-s", "99999999999999999999", "true"],
            "min-size: '99999999999999999999' is too large",
        ),
        (["run", "-j0", "true"], "depth: '0' is out of range: 1 to 2048"),
        (["run", "--paths=all", "true"], "paths: 'all' is not one of adaptive|exact"),
        (["run", "--event=tim", "true"], "event: unknown event 'tim'; did you mean 'timer'?"),
        (["run", "--audit=maybe", "true"], "audit: 'maybe' is neither on nor off"),
        (["run", "--trace", "true"], "trace does nothing without spans; add spans=streams or spans=tasks"),
        (["run", "--span-paths", "true"], "span-paths does nothing without spans; add spans=streams or spans=tasks"),
        (["run", "--clock=tsc", "true"], "clock does nothing without spans; add spans=streams or spans=tasks"),
        (["run", "--calibrate", "true"], "calibrate does nothing without spans; add spans=streams or spans=tasks"),
    ],
)
def test_bad_arguments_get_one_line(locus, args, message):
    done = locus(*args)
    assert done.returncode == USAGE
    assert done.stdout == ""
    assert one_line(done.stderr) == message


def test_without_a_profile_reports_are_of_the_newest_here(locus, tmp_path):
    """Other tools' manifest.json is no profile, nor is one that is newer but deeper."""
    for age, name in ((30, "locus-9"), (10, "own name"), (20, "locus-10")):
        made = Profile(tmp_path / name, command=name)
        made.append(Block().count("native", age).span("anonymous", (MAIN,), [1])).close()
        os.utime(tmp_path / name / "manifest.json", (1e9 - age, 1e9 - age))
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"format": "pwa"}')
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "p").symlink_to(tmp_path / "locus-9")
    for command in ("report", "numa", "spans"):
        done = locus(command, "--format=json", cwd=tmp_path)
        assert (done.returncode, one_line(done.stderr)) == (0, "profile own name")
        named = locus(command, "--format=json", "own name", cwd=tmp_path)
        assert (named.returncode, named.stderr) == (0, "")
        assert json.loads(named.stdout) == json.loads(done.stdout)
        inside = locus(command, "--format=json", cwd=tmp_path / "own name")
        assert inside.returncode == 0 and json.loads(inside.stdout) == json.loads(done.stdout)
    os.utime(tmp_path / "locus-9" / "manifest.json")
    assert one_line(locus("report", "--format=json", cwd=tmp_path).stderr) == "profile locus-9"


def test_where_there_is_no_profile_reports_ask_for_one(locus, tmp_path):
    for command in ("report", "numa", "spans"):
        done = locus(command, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (USAGE, "")
        assert "no profile in the current directory" in one_line(done.stderr)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_option_is_a_usage_error_of_every_command(locus, command):
    for args in (["--no-such-thing"], ["-!"]):
        done = locus(command, *args)
        assert (done.returncode, done.stdout) == (USAGE, "")
        assert "unknown option" in one_line(done.stderr)


def test_no_arguments_show_the_help_and_fail(locus):
    done = locus()
    assert done.returncode == USAGE
    assert done.stdout == ""
    assert done.stderr == locus("help").stdout


def test_help_on_a_full_disk_fails(locus):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "locus", "help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write to stdout" in one_line(done.stderr)


def test_missing_command_is_127_and_unrunnable_126(locus, tmp_path):
    done = locus("run", "-o", tmp_path / "p", "--", "no-such-command")
    assert done.returncode == 127
    assert one_line(done.stderr) == "cannot run 'no-such-command': No such file or directory"
    (tmp_path / "text").write_text("text")
    done = locus("run", "-o", tmp_path / "p", "--", tmp_path / "text")
    assert done.returncode == 126
    assert "Permission denied" in one_line(done.stderr)


def test_command_without_a_jvm_keeps_its_own_status(locus, tmp_path):
    done = locus("run", "-o", tmp_path / "p", "--", "echo", "hello")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "'echo' started no JVM" in one_line(done.stderr)
    done = locus("run", "-o", tmp_path / "p", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("line", [["{java}", "-version"], ["sh", "-c", "{java} --help >/dev/null; true"]])
def test_a_java_that_only_answers_is_told(locus, jdk17, tmp_path, line):
    line = [word.format(java=jdk17.java) for word in line]
    done = locus("run", "-o", tmp_path / "p", "--", *line)
    assert done.returncode == 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("locus: no profile was written: '%s' only asked java" % line[0]) and "run a program" in last, done.stderr


def test_the_reason_of_the_agent_is_not_contradicted(locus, jdk17, workload, tmp_path):
    """The directory of the profile is removed between the start of the command and that of the JVM."""
    (tmp_path / "d").mkdir()
    line = ["sh", "-c", 'rm -r "$0" && "$@"', tmp_path / "d", *command(workload, jdk17, "Endings", "return")]
    for output in (tmp_path / "d" / "p" / "q", tmp_path / "link"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "d").mkdir(exist_ok=True)
        if output.name == "link":
            line[2] = 'ln -s "$0" "%s" && "$@"' % output
        else:
            line[2] = 'rm -r "$0" && touch "$0" && "$@"; rm "$0"'
        done = locus("run", "-o", output, "--", *line)
        assert done.returncode == 0, done.stderr
        said = [text for text in done.stderr.splitlines() if text.startswith("locus: ")]
        assert len(said) == 2 and "runs unprofiled" in said[0], done.stderr
        assert said[1] == "locus: no profile was written, although 'sh' started a JVM with Locus; see the lines above"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hide /proc")
def test_a_program_runs_where_there_is_no_proc(workload, jdk17, tmp_path):
    """A JVM starts there where the dynamic linker is told of its libraries, and is recorded."""
    line = command(workload, jdk17, "Endings", "return")
    home = pathlib.Path(jdk17.java).resolve().parents[1]
    line = ["env", "LD_LIBRARY_PATH=%s/lib:%s/lib/server" % (home, home), *line]
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*hidden, "true"], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    bare = run_command([*hidden, *line])
    done = run_command([*hidden, BUILD / "locus", "run", "-o", tmp_path / "p", "--", *line])
    assert (done.returncode, bare.returncode) == (0, 0) and done.stdout == bare.stdout, done.stderr
    assert (tmp_path / "p" / "manifest.json").exists()
    done = run_command([*hidden, BUILD / "locus", "run", "-o", tmp_path / "q", "--", "sh", "-c", "echo it ran; exit 7"])
    assert (done.returncode, done.stdout) == (7, "it ran\n")


def test_directory_that_cannot_be_written_is_refused_before_the_start(locus, tmp_path):
    (tmp_path / "file").write_text("")
    for output, reason in (
        (tmp_path / "file", "Not a directory"),
        (tmp_path / "file" / "p", "Not a directory"),
        ("/proc/p", "No such file or directory"),
        ("/sys/p", ""),
    ):
        done = locus("run", "-o", output, "--", "touch", tmp_path / "started")
        assert done.returncode == TOOL
        message = one_line(done.stderr)
        assert "cannot write a profile to '%s'" % output in message
        assert reason in message
        assert "--output" in message
    assert not (tmp_path / "started").exists()


def test_read_only_directory_is_refused_before_the_start(locus, tmp_path):
    """Root may write in every directory, but not in a file system that is mounted read-only."""
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    root = os.geteuid() == 0
    if root and subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(locked)], capture_output=True).returncode != 0:
        pytest.skip("root may write in every directory here, and may not mount one read-only")
    try:
        done = locus("run", "-o", locked / "p", "--", "touch", tmp_path / "started")
        assert done.returncode == TOOL
        assert ("Read-only file system" if root else "Permission denied") in one_line(done.stderr)
        assert not (tmp_path / "started").exists()
    finally:
        if root:
            subprocess.run(["umount", str(locked)], check=True)


def test_full_directory_is_refused_before_the_start(locus, tmp_path):
    """A directory that takes no file of any size: its file system is full."""
    full = tmp_path / "full"
    full.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(full)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    try:
        with pytest.raises(OSError):
            (full / "filler").write_bytes(b"x" * 65536)
        done = locus("run", "-o", full / "p", "--", "touch", tmp_path / "started")
        assert done.returncode == TOOL
        assert "No space left on device" in one_line(done.stderr)
        assert not (tmp_path / "started").exists()
    finally:
        subprocess.run(["umount", str(full)], check=True)


def test_profile_is_never_overwritten(locus, hello, profile, tmp_path):
    jdk, path = hello
    first = profile([jdk.java, "-cp", path, "Hello"], name="p")
    before = sorted((f.name, f.stat().st_size) for f in first.directory.iterdir())
    done = locus("run", "-o", first.directory, "--", "touch", tmp_path / "started")
    assert done.returncode == TOOL
    assert "already holds a profile" in one_line(done.stderr)
    assert not (tmp_path / "started").exists()
    assert sorted((f.name, f.stat().st_size) for f in first.directory.iterdir()) == before


def test_program_keeps_its_output_and_status(hello, profile):
    jdk, path = hello
    bare = run_command([jdk.java, "-cp", path, "Hello", "a b", "42"])
    run = profile([jdk.java, "-cp", path, "Hello", "a b", "42"], check=False)
    assert (run.returncode, run.stdout, run.stderr) == (42, bare.stdout, bare.stderr)
    assert (run.directory / "manifest.json").exists()


def test_program_behind_a_script_is_profiled_and_keeps_its_output(hello, profile, tmp_path):
    """The script asks for the version first, and goes elsewhere: neither takes the profile."""
    jdk, path = hello
    script = tmp_path / "start"
    script.write_text(
        "#!/bin/sh\n%s -version 2>/dev/null || exit 1\ncd /\nexec %s -cp %s Hello $1 5\n"
        % (jdk.java, jdk.java, path)
    )
    script.chmod(0o755)
    bare = run_command([script, "x"])
    run = profile([script, "x"], check=False)
    assert (run.returncode, run.stdout, run.stderr) == (5, bare.stdout, bare.stderr)
    assert (run.directory / "manifest.json").exists()
    assert "x" in run.manifest()["processes"][0]["command"]


def test_process_pattern_gives_each_jvm_its_profile(locus, hello, tmp_path):
    jdk, path = hello
    line = "%s -cp %s Hello; %s -cp %s Hello" % (jdk.java, path, jdk.java, path)
    done = locus("run", "-o", tmp_path / "p-%p", "--", "sh", "-c", line)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("p-*/manifest.json"))) == 2
    last = max(tmp_path.glob("p-*/manifest.json"), key=lambda file: file.stat().st_mtime_ns)
    assert said_at_the_end(done).startswith("2 profiles, the last one in %s: " % last.parent)


def said_at_the_end(done):
    """The line of the tool's after what the program said on stderr."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("locus: ")]
    assert len(lines) == 1 and done.stderr.endswith(lines[0] + "\n"), done.stderr
    return lines[0][len("locus: ") :]


def test_run_ends_with_what_it_found_and_the_next_command(locus, hot, tmp_path):
    """The one hot object of the program, its line, and a command that a shell can run as it stands."""
    done = locus("run", "-o", "it's here", "--", *hot(2), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n")
    line = said_at_the_end(done)
    place, _, rest = line.partition(": ")
    text, _, following = rest.partition("; see: ")
    assert place == "profile in 'it'\\''s here'"
    assert following == "locus report 'it'\\''s here'"
    shown = subprocess.run(
        ["sh", "-c", "%s/%s --format=json" % (BUILD, following)], cwd=tmp_path, capture_output=True, check=True
    )
    report = json.loads(shown.stdout)
    finding = report["findings"][0]
    by_line = {}
    for site in report["sites"]:
        path = site["allocation_path"][0]
        key = site["class"], path["method"], path["line"]
        by_line[key] = by_line.get(key, 0) + site["samples"]
    (cls, method, number), most = max(by_line.items(), key=lambda kv: kv[1])
    total = report["samples"]["total"]
    assert most > 0.5 * total
    assert text == "%d samples; top finding: %s, %.1f%% in %s of Hot.%s:%d" % (
        total, finding["kind"], 100 * most / total, cls, method, number)


def test_quiet_drops_the_line(locus, hello, tmp_path):
    jdk, path = hello
    bare = run_command([jdk.java, "-cp", path, "Hello", "x", "42"])
    for option in ("-q", "--quiet"):
        done = locus("run", option, "-o", tmp_path / option, jdk.java, "-cp", path, "Hello", "x", "42")
        assert (done.returncode, done.stdout, done.stderr) == (42, bare.stdout, bare.stderr)


def test_line_of_a_program_that_is_killed_says_what_there_is(locus, hot, tmp_path):
    script = '"$@" & p=$!; sleep 3; kill -9 $p; wait $p 2>/dev/null'
    done = locus("run", "-o", "p", "--", "bash", "-c", script, "bash", *hot(60), cwd=tmp_path)
    assert done.returncode == 128 + signal.SIGKILL
    report = json.loads(locus("report", "--format=json", tmp_path / "p").stdout)
    assert not report["processes"][0]["complete"]
    total = report["samples"]["total"]
    assert total > 0
    assert said_at_the_end(done).startswith("profile in p: %d sample" % total)


def test_profile_that_cannot_be_read_does_not_fail_the_run(locus, hello, tmp_path):
    jdk, path = hello
    line = "%s -cp %s Hello; echo '{\"format\":99}' >p/manifest.json; exit 5" % (jdk.java, path)
    done = locus("run", "-o", "p", "--", "sh", "-c", line, cwd=tmp_path)
    assert done.returncode == 5
    assert said_at_the_end(done) == "profile in p; see: locus report p"


def test_line_of_a_large_profile_says_its_size(locus, hello, tmp_path):
    """To read it would take long, and the user waits for the program's end."""
    jdk, path = hello
    line = "%s -cp %s Hello; truncate -s 64M p/more" % (jdk.java, path)
    done = locus("run", "-o", "p", "--", "sh", "-c", line, cwd=tmp_path)
    assert done.returncode == 0
    assert said_at_the_end(done) == "profile in p: 64.0 MB; see: locus report p"


@pytest.fixture
def small(tmp_path):
    """A profile made by hand."""
    block = Block().allocate("long[]", (MAIN,), 3, 3000).access("object", (MAIN,), 7, ("long[]", (MAIN,)))
    return Profile(tmp_path / "small").append(block).close()


@pytest.mark.parametrize(
    "command, name, form",
    [("report", "a.txt", "text"), ("report", "a.json", "json"), ("report", "a.html", "html"), ("report", "a.csv", "csv"), ("report", "a.md", "markdown"),
     ("report", "a.speedscope.json", "speedscope"), ("report", "speedscope.json", "json"),
     ("report", "a.b.collapsed", "collapsed"), ("report", "plain", "text"), ("report", ".hidden", "text"),
     ("numa", "a.json", "json"), ("numa", "a.txt", "text")],
)
def test_extension_of_the_file_chooses_the_format(locus, small, tmp_path, command, name, form):
    """The file is what --format writes to stdout."""
    wanted = locus(command, "--format=" + form, small)
    done = locus(command, "-f", tmp_path / name, small)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / name).read_text() == wanted.stdout != ""


@pytest.mark.parametrize("command", ("report", "repeat"))
def test_a_dash_is_no_file_but_stdout(locus, small, tmp_path, command):
    before = set(tmp_path.iterdir())
    done = locus(command, "-f", "-", "--format=json", small, cwd=tmp_path)
    assert (done.returncode, set(tmp_path.iterdir())) == (0, before)
    assert done.stdout == locus(command, "--format=json", small).stdout != ""


@pytest.mark.parametrize(
    "command, known",
    [("report", ".speedscope.json, .txt, .json, .html, .csv, .collapsed, .svg, .pb.gz, .md, .sqlite, .jfr"), ("numa", ".txt, .json"),
     ("spans", ".trace.json, .txt, .json, .html, .csv, .collapsed")],
)
def test_extension_that_names_no_format_is_refused(locus, small, tmp_path, command, known):
    file = tmp_path / "a.docx"
    done = locus(command, "-f", file, small)
    assert (done.returncode, done.stdout, file.exists()) == (2, "", False)
    assert one_line(done.stderr) == (
        "--file: unknown extension of '%s'; use one of %s" % (file, known))


def test_format_goes_before_the_extension(locus, small, tmp_path):
    for name in ("a.docx", "a.html"):
        assert locus("report", "--format=json", "-f", tmp_path / name, small).returncode == 0
        json.loads((tmp_path / name).read_text())


def test_run_reports_to_a_file_in_one_go(locus, hello, tmp_path):
    jdk, path = hello
    done = locus("run", "-o", "p", "-f", "r.json", jdk.java, "-cp", path, "Hello", "x", "42", cwd=tmp_path)
    assert done.returncode == 42
    line = said_at_the_end(done)
    assert line.startswith("profile in p: ") and line.endswith("; report in r.json")
    assert (tmp_path / "r.json").read_text() == locus("report", "--format=json", tmp_path / "p").stdout


def test_run_refuses_a_report_without_a_format_before_the_program_starts(locus, tmp_path):
    done = locus("run", "-f", "r.docx", "-o", tmp_path / "p", "--", "touch", tmp_path / "started")
    assert done.returncode == 2 and "unknown extension of 'r.docx'" in one_line(done.stderr)
    assert not (tmp_path / "started").exists()


def test_report_of_a_run_that_cannot_be_written_fails_a_run_that_went_well(locus, hello, tmp_path):
    jdk, path = hello
    for status, wanted in (("0", 1), ("7", 7)):
        done = locus("run", "-o", tmp_path / status, "-f", "/nowhere/r.json", jdk.java, "-cp", path, "Hello", "x", status)
        assert done.returncode == wanted
        said = [line for line in done.stderr.splitlines() if line.startswith("locus: ")]
        assert said[0] == "locus: cannot write '/nowhere/r.json': No such file or directory"
        assert said[1].endswith("; see: locus report %s" % (tmp_path / status)) and len(said) == 2


def test_stdin_reaches_the_program(hello, tmp_path):
    jdk, path = hello
    done = subprocess.run(
        [BUILD / "locus", "run", "-o", tmp_path / "p", jdk.java, "-cp", path, "Hello", "read"],
        input="some words",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "read some words\n" in done.stdout


@pytest.mark.parametrize("sent, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_reaches_the_program_and_its_shutdown_hooks(hello, tmp_path, sent, status):
    jdk, path = hello
    process = subprocess.Popen(
        [BUILD / "locus", "run", "-o", tmp_path / "p", jdk.java, "-cp", path, "Hello", "sleep"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # If the tests run in the background, SIGINT is ignored, and that is inherited.
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
    )
    try:
        for line in process.stdout:
            if line == "ready\n":
                break
        process.send_signal(sent)
        rest = process.stdout.read()
        assert process.wait(timeout=300) == status
        assert rest == "hook\n"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert (tmp_path / "p" / "manifest.json").exists()


def test_a_tool_without_its_library_starts_nothing(tmp_path):
    shutil.copy(BUILD / "locus", tmp_path)
    done = run_command([tmp_path / "locus", "run", "-o", tmp_path / "p", "--", "touch", tmp_path / "started"])
    assert done.returncode == TOOL
    assert "liblocus.so" in one_line(done.stderr)
    assert not (tmp_path / "started").exists()


def test_statuses_of_the_program_pass_through(locus, tmp_path):
    """Also those that are the tool's own when it starts nothing."""
    for status in (2, 3, 125, 126, 127):
        done = locus("run", "-o", tmp_path / "p", "--", "sh", "-c", "exit %d" % status)
        assert done.returncode == status


def test_death_by_signal_is_passed_on(locus, tmp_path):
    done = locus("run", "-o", tmp_path / "p", "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == -signal.SIGSEGV


def test_existing_preload_is_kept(hello, tmp_path):
    jdk, path = hello
    done = run_command(
        [BUILD / "locus", "run", "-v", "-o", tmp_path / "p", jdk.java, "-cp", path, "Hello"],
        env={"LD_PRELOAD": "libm.so.6"},
    )
    assert done.returncode == 0, done.stderr
    assert "LD_PRELOAD=libm.so.6:%s\n" % (BUILD / "liblocus-preload.so") in done.stderr


def test_installed_layout_is_found(hello, tmp_path):
    jdk, path = hello
    prefix = tmp_path / "usr"
    made = run_command(
        ["make", "-s", "-C", ROOT, "install", "PREFIX=%s" % prefix, "DESTDIR="], timeout=300
    )
    assert made.returncode == 0, made.stderr
    done = run_command(
        [prefix / "bin" / "locus", "run", "-o", tmp_path / "p", jdk.java, "-cp", path, "Hello"]
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "p" / "manifest.json").exists()
    for page in ("locus.1", "locus-run.1", "locus-report.1", "locus-numa.1",
                 "locus-merge.1", "locus-bench.1", "locus-doctor.1"):
        assert (prefix / "share" / "man" / "man1" / page).exists()


def test_agent_refuses_bad_options_and_the_program_runs(hello, tmp_path):
    """Without `locus run` in front, the agent itself must say what is wrong, and stand aside."""
    jdk, path = hello
    bare = run_command([jdk.java, "-cp", path, "Hello"])
    done = run_command(
        [jdk.java, "-agentpath:%s=min-sise=3" % (BUILD / "liblocus.so"), "-cp", path, "Hello"],
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, bare.stdout)
    assert done.stderr.endswith(bare.stderr)
    message = one_line(done.stderr[: -len(bare.stderr)])
    assert "did you mean 'min-size'?" in message


def test_jvms_in_sequence_without_a_pattern_leave_the_first_profile(locus, hello, tmp_path):
    jdk, path = hello
    line = "%s -cp %s Hello one; %s -cp %s Hello two" % (jdk.java, path, jdk.java, path)
    done = locus("run", "-o", tmp_path / "p", "--", "sh", "-c", line)
    assert "out one\n" in done.stdout and "out two\n" in done.stdout
    assert done.returncode == 0
    assert (tmp_path / "p" / "manifest.json").exists()
