# SPDX-License-Identifier: Apache-2.0
"""Run a command once, and say what it took.

Linux counts for a process, as peak memory, also that of the process that started it, as long as it has not begun to run
its program. A measuring script is larger than many a Java program at rest, so a small process stands between: this file as a
script. usage.py FILE COMMAND...: runs the command, and writes its wait status, seconds and memory to FILE.
"""

import json
import os
import pathlib
import subprocess
import sys
import time


def begin(command, file, **how):
    """Starts a command behind the small process; keywords as of Popen. The file gets what it took when it has ended."""
    pathlib.Path(file).unlink(missing_ok=True)
    return subprocess.Popen([sys.executable, "-IS", __file__, str(file), *command], **how)


def end(process, file):
    """Waits for a command: (its wait status, {seconds "wall" and "cpu", "rss_mb"}); no figures if the process between was ended."""
    _, status, _ = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        return status, {}
    told = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    return told.pop("status"), told


def main(file, *command):
    start = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    told = {"status": status, "wall": time.monotonic() - start, "cpu": usage.ru_utime + usage.ru_stime, "rss_mb": usage.ru_maxrss / 1024}
    with open(file, "w", encoding="utf-8") as out:
        json.dump(told, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
