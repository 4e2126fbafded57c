# SPDX-License-Identifier: Apache-2.0
"""A process that puts load on the machine. It ends with the process that started it, even if that
process is killed.

    python3 busy_process.py PARENT loop             keeps one CPU busy at normal priority
    python3 busy_process.py PARENT write            writes to the disk
    python3 busy_process.py PARENT run COMMAND...   becomes that command

PARENT is the process id of the starting process. The new process prints a line when it has begun.
It runs as a file, without the package, so that it starts quickly.
"""

import ctypes
import os
import signal
import sys
import tempfile

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    parent, what, command = int(arguments[0]), arguments[1], arguments[2:]
    # A command cleans up behind itself on SIGTERM; an endless loop has nothing to clean up.
    last = signal.SIGTERM if command else signal.SIGKILL
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(last), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_PDEATHSIG): {os.strerror(number)}")
    if os.getppid() != parent:  # it ended before the line above
        return 0
    # The stress has normal priority, even if the command that measures has another one.
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    print("started", flush=True)
    if what == "run":
        os.execvp(command[0], command)
    if what == "write":
        write()
    while True:
        pass


def write() -> None:
    block = bytes(1 << 20)
    with tempfile.TemporaryFile(buffering=0) as file:
        while True:
            file.seek(0)
            file.write(block)
            os.fsync(file.fileno())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
