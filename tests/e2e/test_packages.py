# SPDX-License-Identifier: Apache-2.0
"""Installed and packed files: files, completion, the settings of `locus agent-args`, manual pages."""

import json
import os
import pty
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import BUILD, ROOT
from helpers import command

COMMANDS = ("run", "report", "diff", "repeat", "numa", "spans", "merge", "calibrate", "doctor", "agent-args")


def files(directory):
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir())


def program(workload, jdk):
    return command(workload, jdk, "Duration", 100, 0)


def make(*words):
    done = subprocess.run(["make", "-s", "-C", ROOT, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_install_and_uninstall(tmp_path, workload, jdk17):
    """Installed programs work from there, and uninstall leaves what others put beside it."""
    base = tmp_path / "root" / "opt"
    make("install", "DESTDIR=%s" % (tmp_path / "root"), "PREFIX=/opt")
    found = files(base)
    for name in ("bin/locus", "lib/locus/liblocus.so", "lib/locus/liblocus-preload.so", "lib/locus/liblocus-delay.so",
                 "share/doc/locus/LICENSE", "share/doc/locus/NOTICE", "share/bash-completion/completions/locus",
                 *("share/man/man1/locus-%s.1" % c for c in COMMANDS), "share/man/man1/locus.1"):
        assert name in found
    done = subprocess.run([base / "bin/locus", "run", "-o", tmp_path / "p", "--", *program(workload, jdk17)],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "profile in" in done.stderr, done.stderr
    (base / "lib" / "locus" / "mine").write_text("")
    make("uninstall", "DESTDIR=%s" % (tmp_path / "root"), "PREFIX=/opt")
    assert files(base) == ["lib/locus/mine"]


def test_the_licence_is_whole():
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "END OF TERMS AND CONDITIONS" in text


# Names of shared libraries that are not those of NOTICE.
LIBRARIES = {"libpfm4": "libpfm", "xxHash": None, "zlib": "libz", "zstd": "libzstd", "SQLite": "libsqlite3", "ncurses": "libncursesw"}


def needed(file):
    """The shared libraries that a file asks for, as readelf lists them."""
    said = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
    return {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said)}


GLIBC = {"libc", "libm", "libpthread", "libdl", "librt", "ld-linux-x86-64"}
PARTS = {"libtinfo"}  # of ncurses


def test_the_notice_lists_what_is_linked():
    listed = {"agent": set(), "command": set()}
    rows = re.findall(r"(?m)^(\w+) +((?:agent|command)(?:, command)?) +[\w-]+ +\S.*;? ", (ROOT / "NOTICE").read_text())
    for name, users, in rows:
        for user in users.split(", "):
            library = LIBRARIES.get(name, name if name.startswith("lib") else "lib" + name)
            listed[user].update([library] if library else [])
    for user, file in (("agent", "liblocus.so"), ("command", "locus")):
        assert needed(BUILD / file) - GLIBC - PARTS == listed[user], file
    for name in ("liblocus-preload.so", "liblocus-delay.so"):
        assert needed(BUILD / name) <= GLIBC, name


# The tarball

PROGRAM = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed++; }
static void *thread(void *of) { return of; }
int main(int argc, char **argv)
{
	struct stat st, by_path;
	char random[8];
	pthread_t t;
	void *back;
	FILE *self = fopen(argv[0], "r");
	if (fstat(fileno(self), &st) || stat(argv[0], &by_path) || st.st_ino != by_path.st_ino || lstat("/none", &st) != -1)
		return 1;
	if (getrandom(random, 8, 0) != 8 || pthread_create(&t, NULL, thread, argv) || pthread_join(t, &back) || back != argv)
		return 2;
	printf("%d %ld %g\\n", constructed, (long)by_path.st_size, pow(argc + 1, 10));
	return 0;
}
"""


def test_programs_for_an_old_glibc_run_and_call_nothing_newer(tmp_path):
    """Programs link with the C library of scripts/old-glibc; one that calls a newer function is not linked."""
    subprocess.run([ROOT / "scripts/old-glibc", tmp_path / "glibc"], check=True)

    def link(source):
        return subprocess.run(["gcc", "-fvisibility=hidden", "-Wl,--wrap=__libc_start_main", "-L", tmp_path / "glibc", "-o", tmp_path / "program",
                               "-x", "c", "-", "-lm", "-pthread"], input="#define _GNU_SOURCE\n" + source, capture_output=True, text=True)

    done = link(PROGRAM)
    assert done.returncode == 0, done.stderr
    said = subprocess.run(["readelf", "-W", "--dyn-syms", tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_([\d.]+)", said)}
    assert versions and max(versions) <= (2, 17) and "pow@GLIBC_2.2.5" in said
    assert needed(tmp_path / "program") == {"libc", "libm", "libpthread"}  # as before 2.34
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert done.stdout == "1 %d 1024\n" % (tmp_path / "program").stat().st_size and done.returncode == 0
    done = link("#include <sys/mman.h>\nint main(void) { return memfd_create(\"x\", 0); }\n")
    assert done.returncode and "memfd_create" in done.stderr


@pytest.fixture(scope="module")
def unpacked(shared):
    """The tarball of `make dist`, unpacked, and that of sources."""
    for tool in ("curl", "cmake"):
        if not shutil.which(tool):
            pytest.skip("no %s to make the tarball with" % tool)
    version = subprocess.run([BUILD / "locus", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    names = "locus-%s-linux-%s" % (version, os.uname().machine), "locus-%s-sources" % version

    def unpack(directory):
        done = subprocess.run([ROOT / "scripts" / "dist", version], capture_output=True, text=True)
        if done.returncode == 3:
            pytest.skip(done.stderr.splitlines()[-1])
        assert done.returncode == 0, done.stderr
        for name in names:
            subprocess.run(["tar", "xzf", ROOT / "build" / (name + ".tar.gz"), "-C", directory], check=True)

    directory = shared("dist", unpack)
    return [directory / name for name in names]


@pytest.mark.slow  # it fetches and compiles libraries
def test_the_tarball_needs_the_c_library_alone(unpacked):
    """Nor does another library in the JVM see what is linked in."""
    base, _ = unpacked
    versions = set()
    for file in ("bin/locus", "lib/locus/liblocus.so", "lib/locus/liblocus-preload.so", "lib/locus/liblocus-delay.so"):
        assert needed(base / file) <= GLIBC, file
        said = subprocess.run(["readelf", "-W", "--dyn-syms", base / file], capture_output=True, text=True, check=True).stdout
        versions.update(tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_([\d.]+)", said))
    exported = {}
    for file in ("liblocus", "liblocus-preload", "liblocus-delay"):
        said = subprocess.run(["nm", "-D", "--defined-only", base / "lib/locus" / (file + ".so")],
                              capture_output=True, text=True, check=True).stdout
        exported[file] = {line.split()[2] for line in said.splitlines()}
    assert {name for name in exported["liblocus"] if not re.match("(Agent|Java)_", name)} == set()
    assert {"Agent_OnLoad", "Java_java_lang_LocusHook_alloc"} <= exported["liblocus"]
    for file in ("liblocus-preload", "liblocus-delay"):
        assert exported[file] == set((ROOT / "tests/data" / (file + ".defined")).read_text().split())
    assert max(versions) <= (2, 17)
    for said in ((base / "README"), ROOT / "README.md", ROOT / "docs/production.md"):
        assert "glibc 2.17 or newer" in said.read_text()


@pytest.mark.slow  # it fetches and compiles libraries
def test_the_tarball_works_where_it_is_unpacked(unpacked, tmp_path, workload, jdk17):
    base, _ = unpacked
    empty = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([base / "bin/locus", "run", "-o", tmp_path / "p", "--", *program(workload, jdk17)],
                          capture_output=True, text=True, env=empty)
    assert done.returncode == 0, done.stderr
    mapped = json.loads((tmp_path / "p" / "manifest.json").read_text())["processes"][0]
    assert mapped["complete"]
    for name in ("r.txt", "r.json", "r.html", "r.sqlite", "r.pb.gz"):
        done = subprocess.run([base / "bin/locus", "report", "-f", tmp_path / name, tmp_path / "p"], capture_output=True, env=empty)
        assert done.returncode == 0 and (tmp_path / name).stat().st_size > 100, done.stderr
    assert "Duration" in (tmp_path / "r.txt").read_text()


def test_a_locus_that_carries_its_libraries_needs_no_other_file(tmp_path, workload, jdk17):
    """Not even those that are beside it: it writes its own to a directory, once. Nor does the jar that carries that locus."""
    libraries = [BUILD / name for name in ("liblocus.so", "liblocus-preload.so", "liblocus-delay.so")]
    locus, jar, cache = tmp_path / "locus", tmp_path / "locus-loader.jar", tmp_path / "cache"
    subprocess.run([ROOT / "scripts/one-file", BUILD / "locus", locus, *libraries], check=True)
    subprocess.run([ROOT / "scripts/loader-jar", BUILD / "locus-api.jar", locus, jar], check=True)
    for name in ("liblocus.so", "liblocus-preload.so"):
        (tmp_path / name).write_text("another version")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    first = None
    for words in [locus], [jdk17.java, "-Djava.io.tmpdir=%s" % temporary, "-jar", jar]:
        out = tmp_path / ("p%d" % len(words))
        done = subprocess.run([*words, "run", "-q", "-o", out, "--", *program(workload, jdk17)], capture_output=True, text=True, env=env)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert json.loads((out / "manifest.json").read_text())["processes"][0]["complete"]
        written = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in cache.glob("locus/*/*")}
        assert {name: of[0] for name, of in written.items()} == {p.name: p.read_bytes() for p in libraries[:2]}
        first = first or written
        assert written == first
    assert list(temporary.iterdir()) == []
    done = subprocess.run([jdk17.java, "-jar", jar, "report", tmp_path / "none"], capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "none" in done.stderr
    (tmp_path / "liblocus.so").unlink()
    (tmp_path / "api").mkdir()
    done = subprocess.run(command(workload, jdk17, "RecordsItself", "twice", tmp_path / "api", jars=[jar]), capture_output=True, text=True, env=env)
    assert done.returncode == 3 and list((tmp_path / "api").rglob("manifest.json")), done.stderr


@pytest.mark.slow  # it fetches and compiles libraries
def test_the_tarball_has_the_licences_and_their_sources(unpacked):
    base, sources = unpacked
    doc = base / "share/doc/locus"
    for name, words in (("LICENSE", "Apache License"), ("NOTICE", "LGPL-2.1"), ("licences/LGPL-2.1", "LESSER GENERAL PUBLIC"),
                        ("licences/libjudy", "Hewlett-Packard"), ("licences/libnuma", "Andi Kleen")):
        assert words in (doc / name).read_text()
    for file in ("scripts/dist", "LICENSE", "src/liblocus.map", "analyzer/main.c"):
        assert (sources / file).read_bytes() == (ROOT / file).read_bytes()
    kept = sorted(p.name.split("_")[0] for p in (sources / "libraries").glob("*.orig.tar.*"))
    assert kept == ["judy", "libpfm4", "libzip", "numactl", "zydis"]


# bash completion


@pytest.fixture(scope="module")
def completion(tmp_path_factory):
    script = tmp_path_factory.mktemp("bash") / "locus"
    script.write_text(subprocess.run([BUILD / "locus", "help", "--bash"], capture_output=True, text=True, check=True).stdout)
    return script


@pytest.fixture(scope="module")
def complete(completion):
    def ask(*words, directory="/"):
        """The completions of the last word, divided as bash divides them."""
        done = subprocess.run(["bash", "-c", 'compopt() { :; }; . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _locus; '
                               'printf "%s\\n" "${COMPREPLY[@]}"', completion, *words],
                              capture_output=True, text=True, check=True, cwd=directory)
        assert done.stderr == ""
        return [word for word in done.stdout.splitlines() if word]

    return ask


def test_completion_knows_commands_options_and_words(complete, tmp_path):
    assert set(COMMANDS) <= set(complete("locus", ""))
    assert complete("locus", "repo") == ["report"]
    for command in COMMANDS:
        shown = subprocess.run([BUILD / "locus", "help", command], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"(?m)^  (?:-., |    )(--[a-z-]+)", shown))
        assert {o.rstrip("=") for o in complete("locus", command, "--")} == options
    assert complete("locus", "report", "--format", "=", "js") == ["json"]
    assert complete("locus", "report", "--format", "=") == complete("locus", "report", "--format", "")
    assert complete("locus", "report", "--group", "=", "cl") == ["class+line", "class"]
    assert complete("locus", "run", "--spans=str") == ["--spans=streams"]  # where "=" divides no words
    assert complete("locus", "run", "--spans", "=", "streams,t") == ["streams,tasks"]
    assert set(complete("locus", "help", "")) >= set(COMMANDS)
    assert complete("locus", "run", "--interval", "=") == []


def test_completion_tells_directories_from_files_and_commands(complete, tmp_path):
    for name in ("some.prof", "so far"):
        (tmp_path / name).mkdir()
    (tmp_path / "source.jar").write_text("")
    both, all_of_them = ["so far", "some.prof"], ["so far", "some.prof", "source.jar"]
    for command in ("report", "numa", "spans", "merge", "diff", "repeat"):
        assert sorted(complete("locus", command, "so", directory=tmp_path)) == both
    for words in (["run", "--output", "="], ["run", "-o"], ["diff", "--before", "="], ["calibrate", "--jdk"]):
        assert sorted(complete("locus", *words, "so", directory=tmp_path)) == both
    for words in (["report", "-f"], ["report", "--source-path", "=", "some.prof", ":"], ["run", "--", "java", "-cp"],
                  ["run", "-o", "p", "-q", "java"], ["run", "--output", "=", "p", "java"],
                  ["repeat", "-n", "5", "--", "java", "-cp"]):
        assert sorted(complete("locus", *words, "so", directory=tmp_path)) == all_of_them
    for words in (["run"], ["run", "--"], ["run", "-o", "p", "-q"], ["repeat", "-n", "5", "--timeout", "=", "5s", "--"]):
        assert "bash" in complete("locus", *words, "bas", directory=tmp_path)
    assert "--output=" in complete("locus", "run", "-o", "p", "--o")
    assert complete("locus", "run", "java", "--o", directory=tmp_path) == []


@pytest.mark.parametrize("line, words", [
    ("locus repo\t--form\tspee\tso\t", ["report", "--format=speedscope", "so far/"]),
    ("locus run --out\tso\t -- qu\t", ["run", "--output=so far/", "--", "quux"]),
])
def test_completion_of_a_line_that_is_typed(completion, tmp_path, line, words):
    """The line as a shell divides it: it divides words at '=' by itself."""
    (tmp_path / "so far").mkdir()
    (tmp_path / "quux").write_text("")
    (tmp_path / "quux").chmod(0o755)
    main, side = pty.openpty()
    with subprocess.Popen([shutil.which("bash"), "--norc", "--noprofile", "-i"], stdin=side, stdout=side, stderr=side, cwd=tmp_path,
                          start_new_session=True, env={"TERM": "dumb", "PATH": str(tmp_path), "HOME": str(tmp_path)}) as shell:
        os.close(side)
        os.write(main, (". %s; locus() { printf '%%s\\n' \"$@\" >args; exit; }\n%s\n" % (completion, line)).encode())
        try:
            while os.read(main, 4096):
                pass
        except OSError:  # the shell has closed its side
            pass
        assert shell.wait(300) == 0
    os.close(main)
    assert (tmp_path / "args").read_text().splitlines() == words


# agent-args


def settings(*options):
    done = subprocess.run([BUILD / "locus", "agent-args", *options], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


ODD = "it's 50% of $HOME, a \\ and spaces"


def test_the_settings_of_a_shell_record_a_program(tmp_path, workload, jdk17):
    out = tmp_path / ODD / "p"
    script = settings("--output", out, "--min-size=2k") + '"$0" "$@"\n'
    done = subprocess.run(["bash", "-c", script, *program(workload, jdk17)], capture_output=True, text=True)
    assert done.returncode == 0 and "locus" not in done.stderr.lower() and "Picked up" not in done.stderr
    assert json.loads((out / "manifest.json").read_text())["processes"][0]["options"]["min-size"] in ("2k", "2048")


def test_the_settings_of_an_environment_record_a_program(tmp_path, workload, jdk17):
    lines = settings("--for=env", "--output", tmp_path / "p").splitlines()
    done = subprocess.run(program(workload, jdk17), stdout=subprocess.PIPE, env={**os.environ, **dict(line.split("=", 1) for line in lines)})
    assert done.returncode == 0 and (tmp_path / "p" / "manifest.json").exists()


def test_the_settings_of_a_build_record_a_program(tmp_path, jdk17):
    tree = xml.etree.ElementTree.fromstring("<x>%s</x>" % settings("--for=maven", "--output", tmp_path / "a & b"))
    done = subprocess.run([jdk17.java, tree.find("argLine").text.strip('"'), "-version"])
    assert done.returncode == 0 and (tmp_path / "a & b" / "manifest.json").exists()
    gradle = settings("--for=gradle", "--output", tmp_path / 'q"$x')
    agent = re.search(r'jvmArgs\("(.*)"\)', gradle).group(1)
    assert re.sub(r"\\(.)", r"\1", agent).endswith('output=%s' % (tmp_path / 'q"$x')) and r"\$x" in agent


def test_the_settings_of_a_unit_and_a_container(tmp_path):
    unit = settings("--for=systemd", "--output", tmp_path / "p-%p")
    values = dict(v.split("=", 1) for v in re.findall(r'(?m)^Environment="(.*)"$', unit))
    assert values["LOCUS_AGENT"].replace("%%", "%").endswith("output=%s" % (tmp_path / "p-%p")) and "%%p" in unit
    words = subprocess.run(["bash", "-c", "printf '%s\\n' " + settings("--for=docker", "--output", ODD).strip()],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    assert words[::2] == ["--volume", "--volume", "--env", "--env"] and words[1].endswith(":ro")
    assert words[3].split(":")[0] == words[3].split(":")[1] == os.getcwd()  # where the profile is made
    assert words[5] == "LD_PRELOAD=%s/liblocus-preload.so" % words[1].split(":")[0]
    assert words[7].startswith("LOCUS_AGENT=-agentpath:") and words[7].endswith(ODD.replace("\\", "\\\\").replace(",", "\\,"))


def test_the_settings_of_a_shell_come_behind_what_is_preloaded():
    script = settings("--output", "p") + "printf '%s' \"$LD_PRELOAD\""
    alone, behind = (subprocess.run(["bash", "-c", before + script], capture_output=True, text=True, check=True).stdout
                     for before in ("unset LD_PRELOAD\n", "LD_PRELOAD=libm.so.6\n"))
    assert alone.endswith("/liblocus-preload.so") and behind == "libm.so.6:" + alone


@pytest.mark.parametrize("options, status, said", [
    (["--for=ant"], 2, "unknown value 'ant'"), (["--for=maven", "--output", 'a"b'], 1, "cannot hold quotes"), (["x"], 2, "unexpected argument"),
    (["--min-size=x"], 2, "min-size"), (["--output", "x" * 5000], 2, "output"),
])
def test_settings_that_cannot_be_made(options, status, said):
    done = subprocess.run([BUILD / "locus", "agent-args", *options], capture_output=True, text=True)
    assert done.returncode == status and said in done.stderr and len(done.stderr.splitlines()) == 1 and done.stdout == ""


# Manual pages


@pytest.mark.parametrize("command", COMMANDS)
def test_a_manual_page_has_what_users_look_for(command):
    make("man")
    page = BUILD / "man" / ("locus-%s.1" % command)
    sections = re.findall(r"(?m)^\.SH (.*)", page.read_text())
    for name in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "FILES", "EXIT STATUS", "EXAMPLES", '"SEE ALSO"'):
        assert name in sections or name.strip('"') in sections, (command, name, sections)
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page], capture_output=True, text=True,
                              env={**os.environ, "MANWIDTH": "100"})
        said = [line for line in done.stderr.splitlines() if "cannot adjust line" not in line]  # a word longer than it
        assert done.returncode == 0 and said == []


def test_the_tool_and_each_command_say_their_version():
    said = {subprocess.run([BUILD / "locus", *words, option], capture_output=True, text=True, check=True).stdout
            for words in ([], *([c] for c in COMMANDS)) for option in ("-V", "--version")}
    assert len(said) == 1 and re.fullmatch(r"locus \d+\.\d+\.\d+\n", said.pop())
    done = subprocess.run([BUILD / "locus", "run", "echo", "-V"], capture_output=True, text=True)
    assert done.stdout == "-V\n"  # an argument of the program
