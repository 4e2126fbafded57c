# SPDX-License-Identifier: Apache-2.0
"""Starts a program that measures, rclrt_runner or a benchmark, and ends it properly."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import EXIT_BAD_INPUT, BadInput, RunFailed
from rclrt_py.processes import installation
from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.processes.stop_signals import StopSignals

PACKAGE = "rclrt_runner"
SIMULATOR = "rclrt_simulator"
TICK_S = 0.5
KEEP_ALL = 100_000_000
"""The most instances that a run can keep: for readers that need each of them."""


@dataclass(frozen=True)
class Patience:
    """Time limits of the program, in seconds. After each, the next stronger signal is sent."""

    after_its_time: float = 120.0
    after_interrupt: float = 60.0
    after_terminate: float = 5.0


def find_runner(environment: Mapping[str, str]) -> Path:
    """Returns the runner of the first workspace on AMENT_PREFIX_PATH that has one."""
    return find_program(environment, PACKAGE, PACKAGE)


def find_program(environment: Mapping[str, str], package: str, program: str) -> Path:
    """Returns the path of a package's program, from the first workspace on AMENT_PREFIX_PATH that
    has it. If no workspace has it, returns the program in the Python wheel. Throws BadInput if
    there is none."""
    prefixes = [item for item in environment.get("AMENT_PREFIX_PATH", "").split(":") if item]
    for prefix in prefixes:
        path = Path(prefix) / "lib" / package / program
        if _is_program(path):
            return path
    if _is_program(installation.PROGRAMS / program):
        return installation.PROGRAMS / program
    name = program if program == package else f"{program} of {package}"
    searched = f"not in {', '.join(prefixes)}" if prefixes else "AMENT_PREFIX_PATH is not set"
    if installation.is_wheel():
        raise BadInput(
            f"this rclrt is the Python wheel, which works without ROS 2; the program {name} needs "
            f"ROS 2 and was not found ({searched})\n  fix: {installation.ros_fix()}"
        )
    fix = installation.ros_fix()
    if prefixes:  # a workspace is entered, but lacks this package
        fix = f"if the package is not built: {installation.build_command(package)}; else {fix}"
    raise BadInput(f"the program {name} was not found ({searched})\n  fix: {fix}")


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def runner_command(
    runner: Path,
    app: Path,
    executor: str,
    seconds: float,
    out: Path,
    strict: bool,
    ros_arguments: Sequence[str],
    priorities: Path | None = None,
    keep: int | None = None,
    hosts: Mapping[str, int] | None = None,
) -> list[str]:
    """Returns the command line of the runner. `hosts`: the numbers of sockets to other hosts."""
    command = [str(runner), str(app), "--executor", executor]
    command += ["--seconds", f"{seconds:.9g}", "--out", str(out)]
    if strict:
        command.append("--strict")
    if priorities is not None:
        command += ["--priorities", str(priorities)]
    if keep is not None:
        command += ["--keep", str(keep)]
    if hosts:
        command += ["--hosts", ",".join(f"{name}={file}" for name, file in hosts.items())]
    if ros_arguments:
        command += [] if ros_arguments[0] == "--ros-args" else ["--ros-args"]
        command += ros_arguments
    return command


def simulator_command(
    simulator: Path, app: Path, executor: str, seconds: float, out: Path, options: Sequence[str]
) -> list[str]:
    command = [str(simulator), str(app), "--executor", executor]
    return [*command, "--seconds", f"{seconds:.9g}", "--out", str(out), *options]


def check_simulation(
    simulator: Path, app: Path, executor: str, seconds: float, options: Sequence[str]
) -> None:
    """Throws BadInput if the simulator does not accept its options or files. Writes nothing."""
    command = [str(simulator), str(app), "--executor", executor, "--seconds", f"{seconds:.9g}"]
    done = subprocess.run(
        [*command, *options, "--check"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode == EXIT_BAD_INPUT:
        raise BadInput(done.stderr.decode(errors="replace").strip())


def run_environment(environment: Mapping[str, str], process: int) -> dict[str, str]:
    """Returns environment variables that keep a measured application apart from robots and other
    runs.

    Unless `environment` states otherwise, the application communicates only on this computer, and
    has a ROS domain of its own. The domain is one of the 101 that ROS calls safe on every platform,
    and follows from `process`, the number of this process.
    """
    alone = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_DOMAIN_ID": str(1 + process % 101),
    }
    return alone | dict(environment)


@dataclass(frozen=True)
class Ended:
    """How the program ended."""

    code: int
    notes: list[str]
    interrupted: bool


def run_child(
    command: Sequence[str],
    log_directory: Path,
    seconds: float,
    stop: StopSignals,
    tick: Callable[[float], None] | None = None,
    patience: Patience | None = None,
    environment: Mapping[str, str] | None = None,
    files: Sequence[int] = (),
) -> Ended:
    """Runs the command and waits for its end; ends it earlier if the user asks to stop.

    The command runs in a session of its own, so a Ctrl-C in the terminal reaches it only once, as
    SIGINT from this process. If this process is killed, the command gets SIGTERM. `tick` is called
    from time to time with the seconds since the start; without `tick`, this process does not wake
    up during the measurement. `environment` replaces that of this process. The child keeps `files`
    open.
    """
    patience = patience or Patience()
    out_log, error_log = log_directory / "stdout.log", log_directory / "stderr.log"
    with out_log.open("wb") as out, error_log.open("wb") as errors:
        try:
            child = subprocess.Popen(
                command,
                env=run_environment(environment or os.environ, os.getpid()),
                pass_fds=files,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
                preexec_fn=end_with_parent(),
            )
        except OSError as error:
            raise RunFailed(f"{command[0]}: cannot be started: {error.strerror}") from error
    try:
        _wait(child, stop, seconds, tick, patience)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    notes = error_log.read_text(encoding="utf-8", errors="replace").splitlines()
    ended = Ended(child.returncode, [line for line in notes if line.strip()], stop.requested)
    if ended.code != 0 and not ended.interrupted:
        raise _failure(Path(command[0]).name, ended, out_log)
    return ended


def _wait(
    child: subprocess.Popen[bytes],
    stop: StopSignals,
    seconds: float,
    tick: Callable[[float], None] | None,
    patience: Patience,
) -> None:
    started = time.monotonic()
    limit = started + seconds + patience.after_its_time
    signals_sent = 0
    descriptor = os.pidfd_open(child.pid)
    try:
        while child.poll() is None:
            now = time.monotonic()
            if stop.count > signals_sent or now >= limit:
                # First SIGINT, then SIGTERM, then SIGKILL.
                strength = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[min(signals_sent, 2)]
                os.killpg(child.pid, strength)
                signals_sent += 1
                limit = now + (
                    patience.after_interrupt if signals_sent == 1 else patience.after_terminate
                )
            if tick:
                tick(now - started)
            stop.wait(descriptor, min(TICK_S, limit - now) if tick else max(limit - now, 0))
    finally:
        os.close(descriptor)


def _failure(program: str, ended: Ended, out_log: Path) -> Exception:
    said = "\n".join(f"  {line}" for line in ended.notes[-20:])
    if ended.code == EXIT_BAD_INPUT:
        return BadInput("\n".join(ended.notes[-200:]) or f"{program} refused its input")
    if ended.code < 0:
        try:
            how = f"was ended by {signal.Signals(-ended.code).name}"
        except ValueError:
            how = f"was ended by signal {-ended.code}"
    else:
        how = f"ended with exit code {ended.code}"
    if not said:
        tail = out_log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        said = "\n".join(f"  {line}" for line in tail)
    return RunFailed(
        f"{program} {how}" + (f" and printed:\n{said}" if said else " and printed nothing")
    )
