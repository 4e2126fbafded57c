# SPDX-License-Identifier: Apache-2.0
"""The stress begins, keeps CPUs busy, and ends with the process that started it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rclrt_py.errors import RunFailed
from rclrt_py.processes.stress import Stress
from rclrt_py.testing.waiting import GENEROUS_S

HOLDER = """\
import os, signal, sys
from rclrt_py.processes.stress import Stress
with Stress(sys.argv[1]) as stress:
    print(*stress.process_ids, flush=True)
    signal.pause()
"""
STRESS_NG = """\
#!/bin/sh
# As stress-ng: workers of its own, and the end on SIGTERM.
trap 'kill "$worker"; exit 0' TERM
sleep 1000 & worker=$!
echo "$worker $*" >"$0.log"
wait
"""
OURS = ""


def wait_for_end(process_id: int) -> None:
    """Waits for the end of a process. It need not be our child, and need not be reaped."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], GENEROUS_S)[0], f"{process_id} goes on"
    finally:
        os.close(descriptor)


def cpu_time(process_id: int) -> int:
    """Returns the CPU time of a process in the kernel's ticks."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_there_is_a_busy_process_of_normal_priority_for_each_cpu() -> None:
    with Stress(OURS) as stress:
        assert len(stress.process_ids) == len(os.sched_getaffinity(0))
        assert stress.label.startswith(str(len(stress.process_ids)))
        for each in stress.process_ids:
            before = cpu_time(each)
            limit = time.monotonic() + GENEROUS_S
            while cpu_time(each) < before + 2:
                assert time.monotonic() < limit, "it does not use a CPU"
                os.sched_yield()
            assert os.sched_getscheduler(each) == os.SCHED_OTHER
        stress.check()
        made = stress.process_ids
    for each in made:
        with pytest.raises(ProcessLookupError):
            os.kill(each, 0)


def test_it_ends_when_an_exception_leaves_the_measurement() -> None:
    stress = Stress(OURS)
    made: list[int] = []

    def measure() -> None:
        with stress:
            made.extend(stress.process_ids)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure()
    assert made
    for each in made:
        with pytest.raises(ProcessLookupError):
            os.kill(each, 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_a_process_that_is_killed(number: int) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, OURS], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        made = [int(each) for each in holder.stdout.readline().split()]
        assert made
        holder.send_signal(number)
        for each in made:
            wait_for_end(each)


def test_stress_ng_gets_the_number_of_cpus_and_ends_with_its_workers(tmp_path: Path) -> None:
    program = tmp_path / "stress-ng"
    program.write_text(STRESS_NG)
    program.chmod(0o755)
    log = Path(f"{program}.log")
    with Stress(str(program)) as stress:
        assert stress.label == f"stress-ng -c {stress.cpus}"
        limit = time.monotonic() + GENEROUS_S
        while not log.exists() or not log.read_text().endswith("\n"):
            assert time.monotonic() < limit
            os.sched_yield()
        worker, *arguments = log.read_text().split()
        assert arguments == ["--quiet", "--cpu", str(stress.cpus), "--timeout", "0"]
    wait_for_end(int(worker))


def test_stress_that_ends_by_itself_fails_the_measurement() -> None:
    with Stress("/bin/false") as stress:
        wait_for_end(stress.process_ids[0])
        with pytest.raises(RunFailed, match="exit code 1; expected it to run until the end"):
            stress.check()
