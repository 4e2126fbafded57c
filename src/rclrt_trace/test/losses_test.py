# SPDX-License-Identifier: Apache-2.0
"""Recordings that lose data report it and do not end with exit code 0."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rclrt_py.testing.waiting import GENEROUS_S, wait_for
from traced_runs import NOBODY

EMIT = """\
import ctypes, os, sys, time
from pathlib import Path
tracer = ctypes.CDLL(None)
go = Path(sys.argv[1])
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
tracer.ros_trace_rcl_node_init(ctypes.c_void_p(1), ctypes.c_void_p(2), b"talker", b"/")
go.with_suffix(".ready").touch()
while not go.exists():
    time.sleep(0.01)
for _ in range(int(sys.argv[2])):
    tracer.ros_trace_callback_start(ctypes.c_void_p(16), ctypes.c_bool(False))
    tracer.ros_trace_callback_end(ctypes.c_void_p(16))
go.with_suffix(".done").touch()
while go.exists():
    time.sleep(0.01)
sys.exit(int(sys.argv[3]))
"""
FULL = 150_000
"""Number of pairs of events that do not fit into the buffers of a CPU."""


AS_NOBODY = (
    ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if os.geteuid() == 0
    else []
)
"""Options for a user with their own session daemon (LTTNG_HOME); root's is for the machine."""


def environment(home: Path) -> dict[str, str]:
    own = dict.fromkeys(("HOME", "LTTNG_HOME", "TMPDIR"), str(home))
    return {**os.environ, **own}


class Recording:
    """A recording of a program that writes events when the test asks for them, and then ends."""

    def __init__(self, home: Path, events: int, code: int = 0, out: Path | None = None) -> None:
        self.trace = home / "trace" if out is None else out
        self._go = home / "go"
        self._process = subprocess.Popen(
            [
                *AS_NOBODY, sys.executable, "-m", "rclrt_cli", "trace", "record",
                "-o", str(self.trace), "--",
                sys.executable, "-c", EMIT, str(self._go), str(events), str(code),
            ],
            env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._wait(".ready")

    def _wait(self, suffix: str) -> None:
        file = self._go.with_suffix(suffix)
        wait_for(lambda: self._process.poll() is not None or file.exists())
        assert self._process.poll() is None, self._process.communicate()

    def daemon(self, name: str) -> int:
        """Returns the process id of this recording's daemon of that name."""
        parents = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    head, _, rest = (entry / "stat").read_text().rpartition(")")
                except OSError:
                    continue
                parents[int(entry.name)] = (int(rest.split()[1]), head.partition("(")[2])
        below = {self._process.pid}
        for _ in range(4):
            below |= {pid for pid, (parent, _) in parents.items() if parent in below}
        return max(pid for pid in below if pid in parents and parents[pid][1].startswith(name))

    def emit(self) -> None:
        self._go.touch()
        self._wait(".done")

    def end(self) -> tuple[int, str]:
        """Ends the recording. Returns the exit code and stderr."""
        self._go.unlink()
        _, said = self._process.communicate(timeout=GENEROUS_S)
        assert "Traceback" not in said
        return self._process.returncode, said


@pytest.fixture(autouse=True)
def lttng() -> None:
    if shutil.which("lttng-sessiond") is None:
        if "CI" in os.environ:
            pytest.fail("there is no lttng-sessiond (Debian: lttng-tools)")
        pytest.skip("there is no lttng-sessiond (Debian: lttng-tools)")


@pytest.fixture
def home() -> Iterator[Path]:
    # Outside of pytest's directory, because only its owner may enter that.
    with tempfile.TemporaryDirectory(prefix="rclrt_losses_") as name:
        if os.geteuid() == 0:
            os.chown(name, NOBODY, NOBODY)
        yield Path(name)


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    disk = home / "disk"
    disk.mkdir()
    owner = f"uid={NOBODY}" if os.geteuid() == 0 else f"uid={os.getuid()}"
    mount = ["mount", "-t", "tmpfs", "-o", f"size=300k,{owner}", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("code", [0, 7])
def test_a_whole_recording_ends_with_the_exit_code_of_its_command(home: Path, code: int) -> None:
    recording = Recording(home, 100, code)
    recording.emit()
    assert recording.end()[0] == code


def test_events_for_which_the_buffers_had_no_room(home: Path) -> None:
    recording = Recording(home, FULL)
    consumer = recording.daemon("lttng-consumer")
    os.kill(consumer, signal.SIGSTOP)
    try:
        recording.emit()
    finally:
        os.kill(consumer, signal.SIGCONT)
    ended, said = recording.end()
    assert ended == 1
    assert "the recording lost data" in said
    assert "events: the tracer's buffers were full" in said


@pytest.mark.parametrize(("daemon", "code"), [("lttng-consumer", 0), ("lttng-sessiond", 7)])
def test_a_daemon_that_is_killed(home: Path, daemon: str, code: int) -> None:
    recording = Recording(home, 100, code)
    recording.emit()
    os.kill(recording.daemon(daemon), signal.SIGKILL)
    ended, said = recording.end()
    assert ended == (code or 1)
    assert "the recording lost data" in said
    assert f"  - {daemon}" in said
    assert "ended while it recorded" in said


def test_a_disk_without_room(home: Path, small_disk: Path) -> None:
    recording = Recording(home, 30_000, out=small_disk / "trace")
    recording.emit()
    ended, said = recording.end()
    assert ended == 1
    assert "the recording lost data" in said
    assert "has no room left" in said


def test_a_directory_that_cannot_be_written(home: Path, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = subprocess.run(
        [
            *AS_NOBODY, sys.executable, "-m", "rclrt_cli", "trace", "record",
            "-o", str(small_disk), "--", "true",
        ],
        env=environment(home), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
