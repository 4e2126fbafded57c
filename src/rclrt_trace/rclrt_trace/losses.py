# SPDX-License-Identifier: Apache-2.0
"""Losses of a recording: found while it runs, and in the files that it wrote."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import sys
from pathlib import Path

from rclrt_py.errors import BadInput, RclrtError

from rclrt_trace.reader import read

DAEMONS = ("lttng-sessiond", "lttng-consumer")  # as the kernel names them, at most 15 bytes
MEGABYTE = 1 << 20


class Watch:
    """Finds the processes of the tracer that ended within the `with` block.

    A consumer daemon that is killed loses the data that it has not written yet.
    """

    def __init__(self, session_daemon: int | None, losses: list[str]) -> None:
        self._session_daemon = session_daemon
        self._losses = losses
        self._watched: dict[int, str] = {}

    def __enter__(self) -> Watch:
        if self._session_daemon is not None:
            for pid, name in _family(self._session_daemon):
                with contextlib.suppress(OSError):
                    self._watched[os.pidfd_open(pid)] = f"{name} (process {pid})"
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor, name in self._watched.items():
            if select.select([descriptor], [], [], 0)[0]:
                self._losses.append(f"{name} ended while it recorded")
            os.close(descriptor)
        self._watched.clear()


def _family(root: int) -> list[tuple[int, str]]:
    """Returns LTTng's processes among `root` and its descendants: process ids and names."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                head, _, rest = (entry / "stat").read_text(errors="replace").rpartition(")")
                parents[int(entry.name)] = (int(rest.split()[1]), head.partition("(")[2])
    family: list[tuple[int, str]] = []
    members = {root}
    while members:
        family += [(pid, parents[pid][1]) for pid in members if pid in parents]
        members = {pid for pid, (parent, _) in parents.items() if parent in members}
    return [(pid, name) for pid, name in family if name.startswith(DAEMONS)]


def check_room(out: Path, most_mb: int) -> None:
    """Prints a note if the disk may become full. Throws BadInput if `out` cannot be written."""
    if not os.access(out, os.W_OK | os.X_OK):
        raise BadInput(f"--out {out}: cannot be written; expected a directory that you may write")
    free_mb = shutil.disk_usage(out).free // MEGABYTE
    if free_mb < most_mb:
        print(
            f"rclrt: note: {out} has room for {free_mb} MB, --most-mb is {most_mb}: what does not "
            "fit will be lost",
            file=sys.stderr,
        )


def find_losses(out: Path) -> list[str]:
    """Returns the losses that the trace itself records."""
    if not any(out.rglob("metadata")):
        print(
            "rclrt: note: nothing was recorded: no process with tracepoints of ROS 2 was started "
            "meanwhile",
            file=sys.stderr,
        )
        return []
    try:
        return read("losses", [out], []).splitlines()
    except RclrtError as problem:
        return [str(problem)]


def tell(losses: list[str], out: Path) -> None:
    """Prints the losses and their most frequent cause."""
    print("rclrt: the recording lost data:", file=sys.stderr)
    for loss in losses:
        print("  - " + loss.replace("\n", "\n    "), file=sys.stderr)
    free = shutil.disk_usage(out).free if out.is_dir() else 0
    if free < MEGABYTE:
        print(f"  {out} has no room left", file=sys.stderr)
        fix = "record to a disk with more room, or with a smaller --most-mb"
    else:
        fix = "record again with more CPU time for LTTng's daemons; what was kept can be read"
    print(f"  fix: {fix}", file=sys.stderr)
