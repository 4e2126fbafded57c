# SPDX-License-Identifier: Apache-2.0
"""A process that computes for the page, so that the page's server always answers and a computation
can be ended at any time.

`python -m rclrt_py.plan.worker` reads a request in each line of its standard input and writes lines
of JSON: {"progress": ...} while it computes, and {"result": ...} or {"error": ...} at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from rclrt_py.errors import BadInput, RclrtError

PARENT_CHECK_S = 1.0
Progress = Callable[[float, str], None]


class Stopped(Exception):
    """The computation was ended by stop()."""


class Worker:
    """Starts the process at the first request, and again after it was stopped. Thread-safe: one
    request is computed at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._guard = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._directory: str | None = None
        self.stops = 0
        """How often stop() was called."""

    def ask(
        self,
        kind: str,
        request: Mapping[str, Any],
        progress: Progress = lambda done, text: None,
        since: int | None = None,
    ) -> Any:
        """Returns the result of a request. Throws BadInput with the process's error, or Stopped if
        stop() was called since this call, or since `stops` was `since`."""
        stops = self.stops if since is None else since
        with self._turn:
            with self._guard:
                if self.stops != stops:
                    raise Stopped
                process = self._start()
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(json.dumps([kind, request]) + "\n")
                process.stdin.flush()
                for line in process.stdout:
                    said = json.loads(line)
                    if "progress" in said:
                        progress(*said["progress"])
                    elif "error" in said:
                        raise BadInput(said["error"])
                    else:
                        return said["result"]
            except BrokenPipeError:
                pass
            if self.stops != stops:
                raise Stopped
            self.stop()
            raise RclrtError("the analysis ended without an answer; change something and try again")

    @property
    def pid(self) -> int | None:
        """The id of the process. None: it does not run."""
        return None if self._process is None else self._process.pid

    def stop(self) -> None:
        """Ends the computation, if there is one, and the process."""
        with self._guard:
            self.stops += 1
            process, self._process = self._process, None
            directory, self._directory = self._directory, None
        if process is not None:
            process.kill()
            process.wait()
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            if self._directory is None:
                self._directory = tempfile.mkdtemp(prefix="rclrt-plan-")
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rclrt_py.plan.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    "TMPDIR": self._directory,
                },
                start_new_session=True,  # Ctrl-C is for the server
            )
        return self._process


def main() -> None:
    """Answers requests until the standard input ends, or the server has ended."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    from rclrt_py.plan.jobs import run_job

    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer

    def say(document: Any) -> None:
        answers.write(json.dumps(document, separators=(",", ":")) + "\n")
        answers.flush()

    for line in sys.stdin:
        kind, request = json.loads(line)
        try:
            say({"result": run_job(kind, request, lambda *done: say({"progress": done}))})
        except (RclrtError, OSError, ValueError) as error:
            say({"error": str(error)})


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_S)
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
