# SPDX-License-Identifier: Apache-2.0
"""The searches and simulations of a server. They outlive a page: one that is loaded again finds
them."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from typing import Any

from rclrt_py.errors import RclrtError
from rclrt_py.plan.worker import Stopped, Worker

MOST_JOBS, MOST_RUNNING = 20, 3


class Job:
    """A search or simulation in a process of its own."""

    def __init__(self, kind: str, request: Mapping[str, Any], version: int) -> None:
        self.kind = kind
        self.version = version
        """The id of the version of the application that it is about."""
        self._worker = Worker()
        self._stops = self._worker.stops
        self._state: dict[str, Any] = {"state": "runs", "done": 0.0, "text": ""}
        threading.Thread(target=self._run, args=(kind, request), daemon=True).start()

    def _run(self, kind: str, request: Mapping[str, Any]) -> None:
        def progress(done: float, text: str) -> None:
            self._state = {"state": "runs", "done": done, "text": text}

        try:
            result = self._worker.ask(kind, request, progress, self._stops)
            self._state = {"state": "done", "result": result}
        except Stopped:
            self._state = {"state": "stopped"}
        except Exception as error:  # the page shows it
            self._state = {"state": "failed", "error": str(error) or type(error).__name__}
        finally:
            self._worker.stop()

    @property
    def pid(self) -> int | None:
        """The id of the process that computes. None: it does not run."""
        return self._worker.pid

    def state(self) -> dict[str, Any]:
        return self._state

    def stop(self) -> None:
        self._worker.stop()


class Jobs:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def start(self, kind: str, request: Mapping[str, Any], version: int) -> str:
        """Starts a job, and returns its name. Throws RclrtError if too many run."""
        with self._lock:
            running = [each for each in self._jobs.values() if each.state()["state"] == "runs"]
            if len(running) >= MOST_RUNNING:
                raise RclrtError(
                    f"{MOST_RUNNING} searches or simulations run already; stop one, or wait"
                )
            while len(self._jobs) >= MOST_JOBS:
                self._jobs.pop(next(iter(self._jobs))).stop()
            name = secrets.token_hex(8)
            self._jobs[name] = Job(kind, request, version)
        return name

    def get(self, name: Any) -> Job:
        """Throws RclrtError if there is no such job."""
        job = self._jobs.get(str(name))
        if job is None:
            raise RclrtError("there is no such job")
        return job

    def listed(self) -> list[dict[str, Any]]:
        """Returns the jobs without their results, the newest first."""
        with self._lock:
            jobs = list(self._jobs.items())
        return [
            {"job": name, "kind": job.kind, "version": job.version, "state": job.state()["state"]}
            for name, job in reversed(jobs)
        ]

    def forget(self, name: Any) -> None:
        """Ends a job if it runs, and forgets it."""
        with self._lock:
            job = self._jobs.pop(str(name), None)
        if job is not None:
            job.stop()

    def forget_all(self) -> None:
        with self._lock:
            jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            job.stop()
