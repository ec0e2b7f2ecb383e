"""``one_run.py LIMIT COMMAND...``: run a command silently, and print what it took.

That is its processor seconds (user and system), its peak resident set in bytes, its status (an exit code or minus a
signal), and the seconds until it ended. A process of its own, and a small one: the peak of a child is never below what
its parent had when it forked.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time

MEMORY_LIMIT = 16 << 30
"""Address space of a measured command, in bytes: a peer that needs more fails, and the machine lives on."""


def main() -> None:
    """Run the command and print what it cost."""
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    quiet = subprocess.DEVNULL
    began = time.perf_counter()
    process = subprocess.Popen(sys.argv[2:], stdin=quiet, stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, process.returncode, elapsed)


if __name__ == "__main__":
    main()
