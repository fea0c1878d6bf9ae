# SPDX-License-Identifier: Apache-2.0
"""`locus-mpi merge`: what several ranks write is what `locus merge` writes, whatever the tree; bad profiles among good ones; and
no output where a rank dies or a signal comes."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
import synthetic
from conftest import BUILD, run_command
from synthetic import Block, Profile, frame
from test_labels import CANONICAL, hosts
from test_merge import files, merge, rich_profile, spoiled
from test_report import random_profile, report, simple

PROGRAM = BUILD / "locus-mpi"
pytestmark = pytest.mark.xdist_group("mpi")  # each test starts several processes


def some_ranks(ranks, *args, zone=None):
    """The words of an mpirun, which may have several such parts."""
    return ["-n", str(ranks), *(["-x", "TZ=" + zone] if zone else []), str(PROGRAM), *map(str, args)]


def mpirun(*words):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", *words]


def environment():
    """mpirun refuses root otherwise."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module", autouse=True)
def program():
    # Not skipped: `make test` installs it.
    assert PROGRAM.exists(), "no %s: scripts/install-deps mpi installs what it needs, then make" % PROGRAM
    assert shutil.which("mpirun"), "no mpirun: scripts/install-deps mpi installs it"


def run(ranks, *args):
    """The completed process. `said` is the lines of Locus; mpirun has others, and does not always end them first."""
    done = subprocess.run(mpirun(*some_ranks(ranks, *args)), capture_output=True, text=True, timeout=300, env=environment())
    done.said = [line[line.index("locus-mpi: "):] for line in done.stderr.splitlines() if "locus-mpi: " in line]
    return done


def merge_by_ranks(ranks, out, *args, status=0):
    shutil.rmtree(out, ignore_errors=True)
    done = run(ranks, "merge", "-o", out, *args)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    rng = random.Random(11)
    path = tmp_path_factory.mktemp("several")
    make = [random_profile, rich_profile]
    return [make[i % 2](path / str(i), rng, 100 + 7 * (i * 5 % 11)) for i in range(11)]


@pytest.mark.parametrize("ranks, options", [
    (1, ["--jobs=1"]), (2, ["--jobs=1"]), (2, ["--jobs=3"]), (4, ["--jobs=1"]), (4, ["--fan-in=3", "--jobs=1"]),
    (4, ["--fan-in=8", "--jobs=2"]), (4, ["--prune=2%", "--jobs=1"]),
], ids=str)
def test_ranks_write_what_one_process_writes(locus, several, tmp_path, ranks, options):
    pruning = [word for word in options if word.startswith("--prune")]
    expected = files(merge(locus, tmp_path / "all", *pruning, *several))
    order = random.Random(ranks).sample(several, len(several))
    done = merge_by_ranks(ranks, tmp_path / "again", *options, *order)
    assert files(tmp_path / "again") == expected and not done.said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "all"]


@pytest.mark.parametrize("options", [o for o in CANONICAL.values() if "--keep-threads" not in o], ids=lambda o: o[0])
def test_ranks_choose_what_one_process_chooses(locus, hosts, tmp_path, options):
    """Hosts, labels and times, of all profiles below a directory."""
    expected = files(merge(locus, tmp_path / "all", *options, *hosts))
    done = merge_by_ranks(3, tmp_path / "m", "--jobs=1", *options, hosts[0].parent)
    assert files(tmp_path / "m") == expected and not done.said


def test_ranks_have_the_times_of_rank_0(locus, hosts, tmp_path):
    """A time of day is another one on a machine of another time zone."""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1_750_000_005))
    words = ["merge", "-o", tmp_path / "m", "--jobs=1", "--since", since, *hosts]
    done = run_command([BUILD / "locus", *words], env={**os.environ, "TZ": "UTC"})
    assert done.returncode == 0, done.stderr
    expected = files(tmp_path / "m")
    shutil.rmtree(tmp_path / "m")
    done = run_command(mpirun(*some_ranks(1, *words, zone="UTC"), ":", *some_ranks(1, *words, zone="XYZ-9")), env=environment())
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "m") == expected


def test_where_that_fits_no_process_is_said_once(hosts, tmp_path):
    done = run(3, "merge", "-o", tmp_path / "m", "--where=host=none", *hosts)
    assert done.returncode == 1 and len(done.said) == 1 and "no process of the profiles matches" in done.said[0], done.stderr
    assert list(tmp_path.iterdir()) == []


def test_trees_of_ranks_have_the_chosen_shape(several, tmp_path):
    """Senders and receivers by --timings, with more ranks than profiles."""
    senders = {2: {1: 0, 2: 0, 3: 2, 4: 0, 5: 4, 6: 4, 7: 6, 8: 0, 9: 8, 10: 8, 11: 10, 12: 8},
               3: {1: 0, 2: 0, 3: 0, 4: 3, 5: 3, 6: 0, 7: 6, 8: 6, 9: 0, 10: 9, 11: 9, 12: 9},
               13: dict.fromkeys(range(1, 13), 0)}
    written = []
    for fan_in, expected in senders.items():
        merge_by_ranks(13, tmp_path / "m", "--fan-in=%d" % fan_in, "--jobs=1", "--timings", tmp_path / "t.json", *several)
        ranks = json.loads((tmp_path / "t.json").read_text())["ranks"]
        assert [rank["rank"] for rank in ranks] == list(range(13))
        assert {rank["rank"]: rank["to"] for rank in ranks if rank["rank"]} == expected and ranks[0]["to"] == -1
        for rank in ranks:
            assert {row["from"] for row in rank["received"]} == {r for r, to in expected.items() if to == rank["rank"]}
            for row in rank["received"]:
                assert row["bytes"] == ranks[row["from"]]["sent_bytes"] > 0
        assert sum(rank["bytes"] for rank in ranks) == sum(
            file.stat().st_size for path in several for file in path.glob("*.lcb"))
        assert all(rank["read_cpu_s"] > 0 and rank["max_rss_bytes"] > 1 << 20 for rank in ranks)
        written.append(files(tmp_path / "m"))
    assert written[0] == written[1] == written[2]


def wide(path, seed, paths=700, depth=30):
    """Call paths most of which no other seed has: a partial result that takes several chunks to send."""
    rng = random.Random(seed)
    block = Block()
    for _ in range(paths):
        walk = [frame("com.acme.C%d" % rng.randrange(9000), "m%d" % rng.randrange(50), rng.randrange(99)) for _ in range(depth)]
        block.access("native", tuple(walk), 1)
    block.access("native", (frame("com.acme.Hot", "run", 1),), paths)
    return Profile(path).append(block).close()


@pytest.fixture(scope="module")
def wides(tmp_path_factory):
    path = tmp_path_factory.mktemp("wide")
    return [wide(path / str(i), i, 3000) for i in range(2)]


def test_a_message_of_several_chunks_arrives(locus, wides, tmp_path):
    expected = files(merge(locus, tmp_path / "all", *wides))
    merge_by_ranks(2, tmp_path / "m", "--jobs=1", "--timings", tmp_path / "t.json", *wides)
    assert files(tmp_path / "m") == expected
    sent = json.loads((tmp_path / "t.json").read_text())["ranks"][1]["sent_bytes"]
    assert sent > 1 << 19, "a chunk has 256 KiB (analyzer/mpi/wire.h)"


def test_pruning_at_each_step_keeps_sums_and_says_its_bound(locus, tmp_path):
    wides = [wide(tmp_path / str(i), i, 150, 20) for i in range(4)]
    exact = report(locus, merge(locus, tmp_path / "exact", *wides))
    sent = []
    for options in [], ["--prune-each"]:
        merge_by_ranks(4, tmp_path / "m", "--jobs=1", "--prune=1%", *options, "--timings", tmp_path / "t.json", *wides)
        assert report(locus, tmp_path / "m")["samples"] == exact["samples"]
        pruned = json.loads((tmp_path / "m/manifest.json").read_text())["pruned"]
        assert pruned == pytest.approx(0.04 if options else 0.01)  # two steps, and two
        sent.append(sum(rank["sent_bytes"] for rank in json.loads((tmp_path / "t.json").read_text())["ranks"]))
    assert sent[1] < sent[0] / 10
    done = run(1, "merge", "--prune-each", "-o", tmp_path / "x", wides[0])
    assert done.returncode == 2 and done.said == ["locus-mpi: merge: --prune-each needs --prune"]


# Bad inputs


def test_good_profiles_are_merged_and_bad_ones_are_named_with_their_rank(locus, tmp_path):
    rng = random.Random(5)
    good = [simple(tmp_path / ("good%d" % i)) for i in range(17)]
    bad = {tmp_path / ("bad%d" % i): spoiled(tmp_path / ("bad%d" % i), rng, i) for i in range(16)}
    copy = shutil.copytree(good[0], tmp_path / "copy")  # is read by another rank
    paths = good + list(bad) + [copy]
    rng.shuffle(paths)
    expected = files(merge(locus, tmp_path / "all", *paths, status=3))
    done = merge_by_ranks(4, tmp_path / "m", "--jobs=1", *paths, status=3)
    assert files(tmp_path / "m") == expected
    missing = json.loads((tmp_path / "m/manifest.json").read_text())["missing"]
    assert missing["inputs"] == sum(not used for used in bad.values()) and missing["blocks"] >= 4
    alone = locus("merge", "-o", tmp_path / "alone", *paths).stderr.splitlines()
    assert len(done.said) == len(alone)
    for here, there in zip(sorted(line.split("/")[-1] for line in done.said), sorted(line.split("/")[-1] for line in alone)):
        assert here == there
    for path, used in bad.items():
        of = [line for line in done.said if str(path) + "'" in line or str(path) + ":" in line or str(path) + "/" in line]
        assert of, path
        if not used:  # said by who has scanned it
            assert len(of) == 1 and of[0].startswith("locus-mpi: rank %d: " % (paths.index(path) % 4)), of
    assert sum("a duplicate" in line for line in done.said) == 1
    assert not any("/good" in line for line in done.said if "a duplicate" not in line)


def test_a_file_that_cannot_be_read_is_named_with_the_rank_that_tried(locus, tmp_path):
    paths = [simple(tmp_path / str(i)) for i in range(4)]
    block = paths[2] / "thread-0.lcb"
    block.unlink()
    block.mkdir()
    done = merge_by_ranks(4, tmp_path / "m", "--jobs=1", *paths, status=3)
    of = [line for line in done.said if "cannot read" in line]
    assert len(of) == 1 and of[0].startswith("locus-mpi: rank 2: cannot read '%s'" % block), done.said
    assert report(locus, tmp_path / "m")["samples"]["total"] == 3 * 80


def test_where_nothing_is_good_nothing_is_written(tmp_path):
    (tmp_path / "a").mkdir()
    done = run(2, "merge", "-o", tmp_path / "m", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 1 and list(tmp_path.iterdir()) == [tmp_path / "a"]
    assert done.said[-1] == "locus-mpi: nothing to merge: none of the 2 profiles can be read"
    assert [line.split(": ")[1] for line in done.said[:-1]] == ["rank 0", "rank 1"]


@pytest.mark.parametrize("args, word", [(["--fan-in=1"], "--fan-in"), (["--keep-threads"], "keep-threads")])
def test_a_wrong_word_is_said_once(tmp_path, args, word):
    done = run(2, "merge", *args, "-o", tmp_path / "m", simple(tmp_path / "p"))
    assert done.returncode == 2 and len(done.said) == 1 and word in done.said[0], done.stderr
    assert not (tmp_path / "m").exists()


def test_an_output_that_cannot_be_is_said_before_anything_is_read(tmp_path):
    path = simple(tmp_path / "p")
    done = run(2, "merge", "-o", path, path)
    assert done.returncode == 1 and len(done.said) == 1 and "is not empty" in done.said[0]
    done = run(2, "merge", "-o", tmp_path / "none" / "m", path)
    assert done.returncode == 1 and len(done.said) == 1 and "cannot make output directory" in done.said[0]


def test_an_empty_output_directory_is_taken(locus, tmp_path):
    path = simple(tmp_path / "p")
    expected = files(merge(locus, tmp_path / "all", path))
    (tmp_path / "m").mkdir(mode=0o750)
    assert run(2, "merge", "-o", str(tmp_path / "m") + "/", path).returncode == 0
    assert files(tmp_path / "m") == expected and (tmp_path / "m").stat().st_mode & 0o777 == 0o750


# Ending early


def ranks_of(run):
    """{rank: process ID} of a running mpirun."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as stat, open("/proc/%s/environ" % pid, "rb") as env:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                words = dict(word.split(b"=", 1) for word in env.read().split(b"\0") if b"=" in word)
        except OSError:
            continue
        if parent == run.pid and b"OMPI_COMM_WORLD_RANK" in words:
            found[int(words[b"OMPI_COMM_WORLD_RANK"])] = int(pid)
    return found


@pytest.fixture(scope="module")
def many(wides, tmp_path_factory):
    """Profiles that take longer to merge than mpirun takes to notice a signal, which is a second."""
    path = tmp_path_factory.mktemp("many")
    return [synthetic.another(wides[i % 2], path / str(i), os.link) for i in range(2400)]


def catches_signals(pid):
    with open("/proc/%d/status" % pid) as status:
        caught = next(int(line.split()[1], 16) for line in status if line.startswith("SigCgt"))
    return caught >> (signal.SIGTERM - 1) & 1


def begin(ranks, out, *paths):
    """mpirun, when MPI has begun and rank 0 merges."""
    of = subprocess.Popen(mpirun(*some_ranks(ranks, "merge", "--jobs=1", "-o", out, *paths)), stderr=subprocess.PIPE, text=True,
                          env=environment())
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        found = ranks_of(of)
        if len(found) == ranks and catches_signals(found[0]):
            return of
        assert of.poll() is None, of.communicate()
        time.sleep(0.01)
    pytest.fail("the ranks did not begin")


@pytest.mark.parametrize("rank, number", [(1, signal.SIGKILL), (2, signal.SIGABRT), (0, signal.SIGKILL), (None, signal.SIGINT)])
def test_a_rank_that_dies_ends_the_run_and_leaves_nothing(many, tmp_path, rank, number):
    # mpirun may end without what its ranks said last: where it is interrupted, in 1 of 12 runs on busy CPUs.
    said = [end_by_signal(many, tmp_path, rank, number)]
    while rank != 0 and "locus-mpi: ended early" not in said[-1] and len(said) < 6:
        said.append(end_by_signal(many, tmp_path, rank, number))
    if rank != 0:
        assert "locus-mpi: ended early" in said[-1] and "nothing was written" in said[-1], said


def end_by_signal(many, tmp_path, rank, number):
    """The output of a run whose rank (None: mpirun) gets the signal; it leaves nothing."""
    of = begin(3, tmp_path / "m", *many)
    ranks = ranks_of(of)
    os.kill(of.pid if rank is None else ranks[rank], number)
    said = of.communicate(timeout=300)[1]
    assert of.returncode != 0 and sorted(ranks) == [0, 1, 2], said
    if rank:
        assert "rank %d" % rank in said, said  # mpirun's line
    deadline = time.monotonic() + 180  # mpirun does not wait for the ranks that it kills
    while any(os.path.exists("/proc/%d/exe" % pid) for pid in ranks.values()):
        assert time.monotonic() < deadline, "ranks go on"
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []
    return said
