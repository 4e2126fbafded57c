# SPDX-License-Identifier: Apache-2.0
"""Long runs: results in bounded memory, and what is left of a run that does not reach its end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.comparisons.comparison import load_single_run
from running import APPLICATION, GENEROUS_S, RUNNER, rows, run, without_fork

PERIOD_S = {"obstacle": 0.02, "logging": 0.05}


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APPLICATION)
    return path


def results_of(out: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    return results


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + GENEROUS_S
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def switches(pid: int) -> int:
    """Returns how often the workers of the executors have slept."""
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it may have ended
            if (task / "comm").read_text().startswith(("main L", "main run")):
                status = (task / "status").read_text()
                found += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return found


@contextmanager
def endless(app: Path, out: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A run that lasts an hour unless it is stopped."""
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "3600"]
    with subprocess.Popen(
        [*command, "--out", str(out), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def check_streamed(out: Path) -> dict[str, Any]:
    """Checks that the files of a run that streamed belong together. Returns its results."""
    results = results_of(out)
    counted: Counter[tuple[str, str, str]] = Counter()
    for row in rows(out / "histograms.csv"):
        counted[row["kind"], row["id"], row["times"]] += int(row["count"])
    for chain in results["chains"]:
        ends = chain["completed"] + chain["dropped"] + chain["pending"] + chain["unmatched"]
        assert chain["released"] == ends
        assert counted["chain", chain["id"], "response"] == chain["completed"]
        kept = [row for row in rows(out / "chains.csv") if row["chain"] == chain["id"]]
        worst = max((int(row["response_ns"]) for row in kept if row["response_ns"]), default=0)
        stated = chain["response_ms"] or {"worst": 0.0}
        assert worst == round(stated["worst"] * 1e6)
    kept_instances = rows(out / "instances.csv")
    assert results["streamed"]["kept"] == len(kept_instances)
    assert results["streamed"]["instances"] >= len(kept_instances)
    assert results["context"]["records_dropped"] == 0
    load_single_run(out)  # the readers of rclrt take it
    return results


def test_a_run_with_more_instances_than_it_keeps_streams(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(app, out, "preemptive", "--keep", "10")
    assert done.returncode == 0, done.stderr
    assert "rclrt: more than 10 instances: the run streams; counts" in done.stderr
    results = check_streamed(out)
    assert "ended" not in results
    chains = {chain["id"]: chain for chain in results["chains"]}
    assert chains["obstacle"]["released"] == 30  # 0.6 s / 20 ms
    assert chains["logging"]["released"] == 12  # 0.6 s / 50 ms
    assert chains["obstacle"]["completed"] > 0
    ran = [row for row in rows(out / "instances.csv") if row["outcome"] == "ran"]
    for callback in results["callbacks"]:
        times = [int(row["cpu_ns"]) for row in ran if row["callback"] == callback["id"]]
        assert callback["execution_ms"]["worst"] == max(times) / 1e6  # it has kept all of so few
    assert (out / "trace.pftrace").stat().st_size > 1000
    assert "n: " in (out / "observed.yaml").read_text()


def test_a_run_that_fits_has_the_files_of_a_short_run(app: Path, tmp_path: Path) -> None:
    done = run(app, tmp_path / "out", "preemptive", "--keep", "100000")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or "streams" not in done.stderr
    assert "streamed" not in results_of(tmp_path / "out")
    assert not (tmp_path / "out" / "histograms.csv").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("keep", ["10", "1000000"])
def test_a_stop_writes_what_was_measured_until_then(
    app: Path, tmp_path: Path, number: signal.Signals, keep: str
) -> None:
    out = tmp_path / "out"
    with endless(app, out, "--keep", keep) as process:
        wait_for(lambda: switches(process.pid) >= 40, process)
        process.send_signal(number)
        process.send_signal(signal.SIGINT)  # impatient
        _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 130, said
    results = results_of(out)
    assert results["ended"] == "interrupted"
    assert 0.1 < results["duration_s"] < GENEROUS_S
    stated = (
        f"rclrt_runner: stopped after {results['duration_s']:.3f} of 3600 s; the results are in "
    )
    assert stated + str(out) in said
    for chain in results["chains"]:
        # The releases of the measured time, the first one at 0.
        assert chain["released"] == int(results["duration_s"] / PERIOD_S[chain["id"]]) + 1
        assert chain["completed"] > 0
    assert ("streamed" in results) == (keep == "10")
    if "streamed" in results:
        check_streamed(out)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("app.yaml", "out")] == []


def test_a_run_that_is_killed_leaves_what_it_had(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with endless(app, out, "--keep", "10") as process:
        wait_for((out / "results.json").exists, process)
        first = results_of(out)["duration_s"]
        wait_for(lambda: results_of(out)["duration_s"] > first, process)  # it goes on
        process.kill()
        process.wait(timeout=GENEROUS_S)
    results = check_streamed(out)
    assert results["ended"] == "running"
    assert results["duration_s"] > first > 0.5
    for chain in results["chains"]:
        assert chain["completed"] > 10


def test_a_long_run_that_does_not_stream_leaves_the_same(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with endless(app, out, "--keep", "100000000") as process:
        wait_for((out / "results.json").exists, process)
        process.kill()
        process.wait(timeout=GENEROUS_S)
    assert check_streamed(out)["ended"] == "running"


FULL_DISK = """
set -e
disk=$1; kept=$2; shift 2
mount -t tmpfs -o size=8m tmpfs "$disk"
echo "{}" > "$disk/mounted"
"$@" --out "$disk/out" 2> "$kept/stderr" & run=$!
await() {
  for i in $(seq 1200); do "$@" && return; kill -0 $run || exit 3; sleep 0.1; done
  exit 4
}
await test -f "$disk/out/results.json"
dd if=/dev/zero of="$disk/full" bs=4k 2> /dev/null || true
await grep -q "the run goes on, but" "$kept/stderr"
sleep 1
kill -INT $run
set +e
wait $run; echo $? > "$kept/code"
cp -r "$disk/out" "$kept/out"
ls "$disk" > "$kept/ls"
"""


def may_mount() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    command = [unshare, "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="needs permission to mount a small file system")
def test_a_full_disk_ends_no_run_and_spoils_no_results(app: Path, tmp_path: Path) -> None:
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    kept.mkdir()
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "3600", "--keep", "10"]
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", FULL_DISK, "full", str(disk), str(kept), *command],
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )
    said = (kept / "stderr").read_text()
    assert done.returncode == 0, (done, said)
    assert said.count("rclrt: the run goes on, but: ") == 1
    assert "No space left on device" in said
    assert (kept / "code").read_text() == "1\n"
    results = check_streamed(kept / "out")
    assert results["ended"] == "running"
    seconds = int(results["duration_s"])
    assert f"; the results of the first {seconds} s are in {disk}/out" in said.splitlines()[-1]
    assert (kept / "ls").read_text().split() == ["full", "mounted", "out"]


TWO_PROCESSES = """\
rclrt: 1
name: two
executors: [{name: front, process: sensing}, {name: main}]
nodes: [{name: ahead, executor: front}, {name: control, executor: main}]
callbacks:
  - {id: scan, node: ahead, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [points]}
  - {id: brake, node: control, subscription: {topic: points}, wcet_ms: 0.1}
chains: [{id: obstacle, callbacks: [scan, brake]}]
"""


@without_fork
def test_instances_of_several_processes_are_counted_while_they_run(tmp_path: Path) -> None:
    app, out = tmp_path / "app.yaml", tmp_path / "out"
    app.write_text(TWO_PROCESSES)
    with endless(app, out, "--keep", "10") as process:
        wait_for((out / "results.json").exists, process)
        (chain,) = results_of(out)["chains"]
        assert chain["completed"] > 10
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 130, said
    results = check_streamed(out)
    assert results["ended"] == "interrupted"
    (chain,) = results["chains"]
    assert chain["released"] == int(results["duration_s"] / 0.02) + 1
    assert chain["completed"] > 20
    (hop,) = results["hops"]
    assert (hop["between"], hop["messages"]) == ("processes", chain["completed"])
    assert {each.get("process", "") for each in results["threads"]} == {"", "sensing"}


@without_fork
def test_a_process_that_dies_leaves_what_the_run_had(tmp_path: Path) -> None:
    app, out = tmp_path / "app.yaml", tmp_path / "out"
    app.write_text(TWO_PROCESSES)
    with endless(app, out, "--keep", "10") as process:
        wait_for((out / "results.json").exists, process)
        (child, *_) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        _, said = process.communicate(timeout=GENEROUS_S)
    assert process.returncode == 1
    assert "was ended by SIGKILL; the others were stopped; the results of the first" in said
    assert check_streamed(out)["ended"] == "running"
