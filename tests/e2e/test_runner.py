# SPDX-License-Identifier: Apache-2.0
"""The parts of scripts/lint and scripts/test that run beside each other, and the list of the tests that take the most CPU time."""

import os
import re
import signal
import subprocess
import sys

from conftest import ROOT, run_command
from helpers import wait_until

BEGIN = "set -u\nfailed=0 results=()\n. %s/scripts/beside.sh\n" % ROOT


def bash(text):
    return run_command(["bash", "-c", BEGIN + text])


def test_functions_run_beside_each_other_and_are_told_in_their_order(tmp_path):
    """Each waits for the other's file, so that they end only if both run. Their output and their results come as if they ran in turn."""
    each = '%%s() { echo %%s begins; touch %s/%%s; until [ -e %s/%%s ]; do sleep 0.01; done; sleep %%s; results+=("of %%s"); }\n' % (tmp_path, tmp_path)
    done = bash(each % ("one", "one", "one", "two", "0.1", "one") + each % ("two", "two", "two", "one", "0", "two")
                + 'beside one two\necho "status $?, failed $failed: ${results[*]}"')
    assert (done.stdout, done.stderr) == ("one begins\ntwo begins\nstatus 0, failed 0: of one of two\n", "")


def test_one_that_fails_makes_the_whole_fail():
    done = bash('bad() { failed=1; }\ngood() { results+=(good); }\nbegin good\nbeside bad\necho "status $?, failed $failed"\n'
                'finish good\necho "status $?: ${results[*]}"')
    assert done.stdout == "status 1, failed 1\nstatus 0: good\n", done.stderr


def test_a_signal_ends_what_was_begun(tmp_path):
    with subprocess.Popen(["bash", "-c", BEGIN + "long() { sleep 600 & echo $! >%s/pid; wait; }\nbegin long\nfinish long" % tmp_path]) as process:
        wait_until("a process ID", lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 1
    pid = int((tmp_path / "pid").read_text())
    wait_until("the end of what it started", lambda: not os.path.exists("/proc/%d/exe" % pid))


def test_tests_that_took_most_cpu_time_are_listed(tmp_path):
    """With that of their children."""
    (tmp_path / "conftest.py").symlink_to(ROOT / "tests/e2e/conftest.py")
    (tmp_path / "browser.py").symlink_to(ROOT / "tests/e2e/browser.py")
    burn = 'import subprocess, sys\nBURN = "import time\\nwhile time.process_time() < %s: pass"\n'
    (tmp_path / "test_burn.py").write_text(burn + "".join(
        "def test_%s():\n    subprocess.run([sys.executable, '-c', BURN %% %s], check=True)\n" % of for of in (("less", 0.2), ("more", 0.6))))
    done = run_command([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--most-cpu=1", tmp_path / "test_burn.py"], cwd=tmp_path)
    assert done.returncode == 0 and "tests that took the most CPU time" in done.stdout, done.stdout
    ((seconds, name),) = re.findall(r"^ *([\d.]+) s in +[\d.]+ s  \S*::(\w+)$", done.stdout, re.M)
    assert name == "test_more" and 0.6 <= float(seconds) < 60
