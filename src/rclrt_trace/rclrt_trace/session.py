# SPDX-License-Identifier: Apache-2.0
"""An LTTng user-space session with a bound on its disk usage."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from rclrt_py.errors import BadInput, RunFailed

CREATION_EVENTS = (
    "ros2:rcl_init",
    "ros2:rcl_node_init",
    "ros2:rmw_publisher_init",
    "ros2:rcl_publisher_init",
    "ros2:rmw_subscription_init",
    "ros2:rcl_subscription_init",
    "ros2:rclcpp_subscription_init",
    "ros2:rclcpp_subscription_callback_added",
    "ros2:rcl_service_init",
    "ros2:rclcpp_service_callback_added",
    "ros2:rcl_client_init",
    "ros2:rcl_timer_init",
    "ros2:rclcpp_timer_callback_added",
    "ros2:rclcpp_timer_link_node",
    "ros2:rclcpp_callback_register",
    "ros2:rcl_lifecycle_state_machine_init",
    "ros2:rclcpp_ipb_to_subscription",
    "ros2:rclcpp_buffer_to_ipb",
    "ros2:rclcpp_construct_ring_buffer",
    "ros2:message_link_periodic_async",
    "ros2:message_link_partial_sync",
    "rclrt:callback_added",
    "rclrt:synchronizer_input_added",
    "rclrt:executor_callback_added",
    "rclrt:executor_entity_added",
)
"""Events that occur once per entity. They are always kept: the others refer to these entities."""
RUN_EVENTS = (
    "ros2:rclcpp_publish",
    "ros2:rclcpp_intra_publish",
    "ros2:rcl_publish",
    "ros2:rmw_publish",
    "ros2:rmw_take",
    "ros2:rcl_take",
    "ros2:rclcpp_take",
    "ros2:callback_start",
    "ros2:callback_end",
    "ros2:rcl_lifecycle_transition",
    "ros2:rclcpp_ring_buffer_enqueue",
    "ros2:rclcpp_ring_buffer_dequeue",
    "ros2:rclcpp_ring_buffer_clear",
    "rclrt:callback_release",
    "rclrt:value_stored",
    "rclrt:value_read",
    "rclrt:message_stamped",
)
"""Events that occur while the robot runs. The oldest are dropped when there is no room."""
CREATION, RUNNING = "creation", "running"
FILES = 8
"""Files per stream of the bounded channel. When all are full, the oldest is overwritten."""
BUFFER_BYTES = 1 << 20
BUFFERS = 8
START_S = 10.0
FIRST_WITH_FORMATS = (2, 15)


def require_lttng() -> None:
    """Throws BadInput if LTTng is not installed."""
    for program in ("lttng", "lttng-sessiond"):
        if shutil.which(program) is None:
            raise BadInput(
                f"trace record: the program {program} was not found\n"
                "  fix: apt-get install lttng-tools"
            )


def _lttng(*arguments: str) -> None:
    """Runs lttng. Throws RunFailed with lttng's error message."""
    done = subprocess.run(
        ["lttng", "--no-sessiond", *arguments],
        capture_output=True, text=True, check=False,
        start_new_session=True,  # Ctrl-C must reach only the traced command
    )  # fmt: skip
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).replace("\n", "\n  ")
        raise RunFailed(f"lttng {' '.join(arguments)} failed and printed:\n  {said}")


def _creation_options() -> list[str]:
    """Returns the options that select CTF 1.8. LTTng has other formats from 2.15 on."""
    done = subprocess.run(["lttng", "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"(\d+)\.(\d+)", done.stdout)
    is_newer = version is not None and (int(version[1]), int(version[2])) >= FIRST_WITH_FORMATS
    return ["--trace-format=ctf-1.8"] if is_newer else []


class Daemon:
    """This user's session daemon: the one that already runs, or one that ends with us."""

    def __init__(self) -> None:
        self._own: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Returns the process id, or None if it is not known."""
        if self._own is not None:
            return self._own.pid
        home = os.environ.get("LTTNG_HOME") or os.environ.get("HOME", "/")
        system = Path("/var/run/lttng/lttng-sessiond.pid")
        own = Path(home) / ".lttng/lttng-sessiond.pid"
        for file in (system,) if os.geteuid() == 0 else (own, system):
            with contextlib.suppress(OSError, ValueError):
                return int(file.read_text())
        return None

    def __enter__(self) -> Daemon:
        if self._answers():
            return self
        self._own = subprocess.Popen(
            ["lttng-sessiond", "--no-kernel"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        end = time.monotonic() + START_S
        while not self._answers():
            if self._own.poll() is not None or time.monotonic() > end:
                self._stop()
                raise RunFailed(
                    "trace record: lttng-sessiond does not start\n"
                    "  fix: run lttng-sessiond in a terminal; it prints the reason"
                )
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _answers(self) -> bool:
        with contextlib.suppress(RunFailed):
            _lttng("list")
            return True
        return False

    def _stop(self) -> None:
        if self._own is not None and self._own.poll() is None:
            self._own.send_signal(signal.SIGTERM)
            try:
                self._own.wait(START_S)
            except subprocess.TimeoutExpired:
                self._own.kill()
                self._own.wait()


class Session:
    """Traces all processes of this user into `directory`, within the `with` block.

    `most_bytes` limits the disk space of the events of running programs. With `snapshot`, the
    newest events are kept in memory, and nothing is written until `keep()`; this is for a robot
    that runs for days. If the session cannot be stopped properly, the failure is added to `losses`.
    """

    def __init__(self, directory: Path, most_bytes: int, snapshot: bool, losses: list[str]) -> None:
        self._losses = losses
        self._directory = directory
        self._most_bytes = most_bytes
        self._snapshot = snapshot
        name = f"rclrt-{os.getpid()}"
        self._creation = f"{name}-{CREATION}"
        self._running = f"{name}-{RUNNING}"
        self._made: list[str] = []

    def __enter__(self) -> Session:
        try:
            self._create(self._creation, CREATION, CREATION_EVENTS, [])
            more = ["--snapshot"] if self._snapshot else []
            self._create(self._running, RUNNING, RUN_EVENTS, self._bound(), *more)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for name in reversed(self._made):
            for verb in ("stop", "destroy"):
                try:
                    _lttng(verb, name)
                except RunFailed as problem:
                    self._losses.append(str(problem))
        self._made.clear()

    def keep(self) -> None:
        """Writes the current content of a snapshot session's buffers."""
        _lttng("snapshot", "record", f"--session={self._running}")

    def _bound(self) -> list[str]:
        cpus = os.cpu_count() or 1
        if self._snapshot:
            buffers = 2
            while buffers * 2 * BUFFER_BYTES * cpus <= self._most_bytes:
                buffers *= 2
            return ["--overwrite", f"--subbuf-size={BUFFER_BYTES}", f"--num-subbuf={buffers}"]
        each = max(BUFFER_BYTES, self._most_bytes // (cpus * FILES))
        return [
            f"--subbuf-size={BUFFER_BYTES}", f"--num-subbuf={BUFFERS}",
            f"--tracefile-size={each}", f"--tracefile-count={FILES}",
        ]  # fmt: skip

    def _create(
        self, session: str, part: str, events: tuple[str, ...], bound: list[str], *more: str
    ) -> None:
        output = f"--output={self._directory / part}"
        _lttng("create", session, output, *_creation_options(), *more)
        self._made.append(session)
        where = ["--userspace", f"--session={session}"]
        _lttng("enable-channel", *where, *bound, "ros")
        _lttng("enable-event", *where, "--channel=ros", ",".join(events))
        context = ("--type=vpid", "--type=vtid", "--type=procname", "--type=pid_ns")
        _lttng("add-context", *where, "--channel=ros", *context)
        _lttng("start", session)
