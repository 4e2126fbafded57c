# SPDX-License-Identifier: Apache-2.0
"""Makes the machine busy while the study measures: a loop on each CPU, and one that writes.

The processes end when they are ended, and, by the kernel, when the command dies.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType

from rclrt_cli.errors import BadInput, RunFailed

BUILT_IN, STRESS_NG, NONE = "built-in", "stress-ng", "none"
KINDS = (BUILT_IN, STRESS_NG, NONE)

_PR_SET_PDEATHSIG = 1
# Says that it is ready by a line, then burns or writes. Argument 1: cpu or io; 2: the parent.
_BURNER = """
import ctypes, os, sys, tempfile
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[2]):
    sys.exit()
print("ready", flush=True)
if sys.argv[1] == "cpu":
    while True:
        pass
block = bytes(1 << 20)
with tempfile.TemporaryFile(buffering=0) as file:
    while True:
        file.seek(0)
        file.write(block)
        os.fsync(file.fileno())
"""


class Stress:
    """The load, from `with` to its end."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._processes: list[subprocess.Popen[bytes]] = []
        if kind == STRESS_NG and shutil.which(STRESS_NG) is None:
            raise BadInput(
                f"--stress {STRESS_NG}: the program {STRESS_NG} is not installed; install it "
                f"(apt install {STRESS_NG}), or choose {BUILT_IN}"
            )

    @property
    def pids(self) -> list[int]:
        return [each.pid for each in self._processes]

    def describe(self) -> str:
        cpus = len(os.sched_getaffinity(0))
        if self._kind == NONE:
            return "no stress"
        by = "stress-ng" if self._kind == STRESS_NG else "built in"
        return f"stress ({by}): a busy loop on each of {cpus} CPUs, and one process that writes"

    def __enter__(self) -> Stress:
        try:
            if self._kind == BUILT_IN:
                self._start_built_in()
            elif self._kind == STRESS_NG:
                self._start([STRESS_NG, "--quiet", "-c", "0", "-i", "1"])
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _start_built_in(self) -> None:
        for what in ["cpu"] * len(os.sched_getaffinity(0)) + ["io"]:
            self._start([sys.executable, "-c", _BURNER, what, str(os.getpid())])
        for process in self._processes:
            assert process.stdout is not None
            if process.stdout.readline() != b"ready\n":
                raise RunFailed("a process that makes the stress has ended before it began")

    def _start(self, command: Sequence[str]) -> None:
        self._processes.append(
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C reaches the command, which ends them
                preexec_fn=_end_with_parent,
            )
        )

    def _end(self) -> None:
        for process in self._processes:
            # Those of stress-ng are its children; all of a session end together.
            os.killpg(process.pid, signal.SIGKILL)
        for process in self._processes:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._processes.clear()


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
