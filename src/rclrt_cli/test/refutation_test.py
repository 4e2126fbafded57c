# SPDX-License-Identifier: Apache-2.0
"""Verdicts, and counter-examples that show their miss again when simulated."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.command import Rclrt, finished
from sources import ROOT

from rclrt_analysis import duration_text

APPLICATION = """
rclrt: 1
name: verdicts
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: urgent, node: n, timer: {period_ms: 10}, wcet_ms: 1, group: g}
  - {id: long, node: n, timer: {period_ms: 40}, wcet_ms: 6, group: g}
  - {id: slow, node: n, timer: {period_ms: 100}, wcet_ms: 20}
chains:
  - {id: blocked, callbacks: [urgent], priority: 3, deadline_ms: 5}
  - {id: fine, callbacks: [long], priority: 2}
  - {id: late, callbacks: [slow], priority: 1, deadline_ms: 25}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APPLICATION)
    return path


def analysed(rclrt: Rclrt, *arguments: object) -> tuple[int, Any]:
    answer = rclrt("analyze", *arguments, "--json")
    return answer.code, answer.json


def simulated(*arguments: str) -> subprocess.CompletedProcess[str]:
    return finished("simulate", *arguments)


def test_a_refuted_chain_has_a_counter_example_and_a_proved_one_has_none(
    app: Path, rclrt: Rclrt
) -> None:
    code, result = analysed(rclrt, app)
    assert code == 1
    assert [chain["verdict"] for chain in result["chains"]] == ["refuted", "conditional", "refuted"]
    example = result["chains"][0]["counter_example"]
    # `long` has just started and holds the group: 1 + 6 ms less the instant.
    assert example["response_ms"] == 6.999999
    assert example["execution_from"] == 1
    assert example["extremes"] is False
    assert set(example["offsets_ms"]) == {"urgent", "long", "slow"}
    assert "counter_example" not in result["chains"][1]


def test_without_a_search_nothing_is_refuted(app: Path, rclrt: Rclrt) -> None:
    code, result = analysed(rclrt, app, "--no-search")
    assert code == 1
    assert [chain["verdict"] for chain in result["chains"]] == ["unknown", "conditional", "unknown"]


def test_the_counter_example_shows_the_same_miss_in_a_simulation(
    app: Path, tmp_path: Path, rclrt: Rclrt
) -> None:
    file = tmp_path / "miss.yaml"
    _, result = analysed(rclrt, app, "--counter-example", file)
    example = result["chains"][0]["counter_example"]
    done = simulated(str(app), "--replay", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (
        f"chain blocked, instance {example['instance']}: response 6.999999 ms, deadline 5 ms, "
        "late; the counter-example states 6.999999 ms"
    ) in done.stdout
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["chains"][0]["response_ms"]["worst"] == 6.999999
    # The same offsets under an executor that runs callbacks one after the other.
    done = simulated(
        *(str(app), "--replay", str(file), "--executor", "wait_set"),
        *("--out", str(tmp_path / "other"), "--fail-on-miss"),
    )
    assert done.returncode == 1


def test_a_schedule_with_another_offset_than_the_application_states_is_refused(
    app: Path, tmp_path: Path, rclrt: Rclrt
) -> None:
    file = tmp_path / "miss.yaml"
    code, _ = analysed(rclrt, app, "--counter-example", file)
    assert code == 1
    app.write_text(APPLICATION.replace("period_ms: 40}", "period_ms: 40, offset_ms: 17}"))
    done = simulated(str(app), "--replay", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "expected 17, the offset that the application states (if that has" in done.stderr
    assert not (tmp_path / "out").exists()


# Teper et al., EMSOFT 2024: a callback of a busy group is in no ready set of the other thread.
STARVING = """
rclrt: 1
name: starving
executors: [{name: main, cpus: [0, 1]}]
nodes: [{name: n}]
callbacks:
  - {id: t1, node: n, timer: {period_ms: 100}, wcet_ms: 100, group: g1}
  - {id: t2, node: n, timer: {period_ms: 100}, wcet_ms: 50, group: g1}
  - {id: t3, node: n, timer: {period_ms: 100}, wcet_ms: 50, group: g2}
chains:
  - {id: starved, callbacks: [t2], deadline_ms: 300}
"""


def test_a_miss_hours_after_the_start_is_found_and_replays_in_a_short_run(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    """The four timers meet 3 h 12 min after the start, and then again 30 h later."""
    meeting_ms = (3 * 60 + 12) * 60_000
    timers = "".join(
        f"  - {{id: t{number}, node: n, timer: {{period_ms: {period}, offset_ms: "
        f"{meeting_ms % period}}}, wcet_ms: 0.05}}\n"
        for number, period in enumerate((97, 101, 103, 107))
    )
    chains = "".join(f"  - {{id: c{n}, callbacks: [t{n}], priority: {9 - n}}}\n" for n in range(3))
    app = tmp_path / "app.yaml"
    app.write_text(
        "rclrt: 1\nname: meeting\nexecutors: [{name: main, cpus: [0]}]\nnodes: [{name: n}]\n"
        f"callbacks:\n{timers}chains:\n{chains}"
        "  - {id: last, callbacks: [t3], priority: 1, deadline_ms: 0.19}\n"
    )
    file = tmp_path / "miss.yaml"
    code, result = analysed(rclrt, app, "--counter-example", file)
    assert code == 1
    chain = result["chains"][3]
    assert chain["note"] == "misses in simulation: released at 3 h 12 min 0 s, it takes 200 µs"
    example = chain["counter_example"]
    assert example["begins_at_ms"] + example["release_ms"] == meeting_ms
    assert "\nbegins_at_ms: " in file.read_text()
    done = simulated(str(app), "--replay", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (
        "response 200 µs, deadline 0.19 ms, late; the counter-example states 200 µs, "
        "3 h 12 min 0 s after the start"
    ) in done.stdout
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["chains"][3]["response_ms"]["worst"] == 0.2


def test_a_callback_that_never_runs_is_named_and_its_schedule_replays(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    app, file = tmp_path / "app.yaml", tmp_path / "starved.yaml"
    app.write_text(STARVING)
    stated = (app, "--executor", "wait_set:threads=2")
    code, result = analysed(rclrt, *stated, "--counter-example", file)
    assert code == 1
    chain = result["chains"][0]
    assert chain["bound_ms"] is None
    assert chain["verdict"] == "refuted"
    assert chain["note"].startswith("may never run: 't2' waits in simulation, and it has not run ")
    assert chain["counter_example"]["never_runs"] == "t2"
    assert [queue["pending_bound"] for queue in result["queues"]] == [None, None, 1]
    done = simulated(str(app), "--replay", str(file), "--out", str(tmp_path / "out"))
    waited = duration_text(round(chain["counter_example"]["response_ms"] * 1e6), 6)
    assert (
        f"chain starved: t2 has not run; the counter-example states that it has not run {waited} "
        "after the chain's first release"
    ) in done.stdout
    assert "wait_set:threads=2  starved missed " in done.stderr
    report = (tmp_path / "out" / "report.html").read_text()
    assert "counter-example of starved" in report
    answer = rclrt("analyze", app, "--executor", "static_order:trigger=all", "--sensitivity")
    assert answer.code == 2
    assert "--sensitivity: executor 'static_order:trigger=all': no bounds are offered" in answer.err
    file.write_text(file.read_text().replace("never_runs: t2", "never_runs: t3"))
    done = simulated(str(app), "--replay", str(file), "--out", str(tmp_path / "other"))
    assert done.returncode == 2
    assert "never_runs is 't3'; expected a callback of chain 'starved'" in done.stderr


@pytest.mark.parametrize(
    ("executor", "misses"),
    [
        ("wait_set", ["blocked", "late"]),
        ("producer_consumer", ["blocked", "late"]),
        ("thread_dispatch", ["blocked", "late"]),
        ("edf", ["blocked", "late"]),
    ],
)
def test_each_miss_under_an_executor_has_a_counter_example_that_replays(
    executor: str, misses: list[str], app: Path, tmp_path: Path, rclrt: Rclrt
) -> None:
    file = tmp_path / "miss.yaml"
    code, result = analysed(rclrt, app, "--executor", executor, "--counter-example", file)
    assert code == 1
    refuted = [chain for chain in result["chains"] if chain["verdict"] == "refuted"]
    assert [chain["id"] for chain in refuted] == misses
    assert [chain["id"] for chain in result["chains"] if "counter_example" in chain] == misses
    done = simulated(str(app), "--replay", str(file), "--out", str(tmp_path / "out"))
    stated = f"{refuted[0]['counter_example']['response_ms']:.9g} ms"
    assert f"chain {misses[0]}, instance " in done.stdout
    assert f"response {stated}, " in done.stdout
    assert f"the counter-example states {stated}" in done.stdout


@pytest.mark.parametrize(
    ("executor", "misses"),
    [
        ("wait_set", ["obstacle", "planning"]),
        ("producer_consumer", []),
        ("thread_dispatch", []),
    ],
)
def test_the_vehicle_misses_deadlines_under_the_wait_set_alone(
    executor: str, misses: list[str], tmp_path: Path, rclrt: Rclrt
) -> None:
    vehicle = ROOT / "examples" / "autonomous_vehicle" / "app.yaml"
    file = tmp_path / "miss.yaml"
    _, result = analysed(rclrt, vehicle, "--executor", executor, "--counter-example", file)
    refuted = [chain["id"] for chain in result["chains"] if chain["verdict"] == "refuted"]
    assert refuted == misses
    assert file.exists() == bool(misses)


def test_a_counter_example_of_another_application_is_refused(
    app: Path, tmp_path: Path, rclrt: Rclrt
) -> None:
    file = tmp_path / "miss.yaml"
    analysed(rclrt, app, "--counter-example", file)
    other = str(ROOT / "examples" / "fig_5_7" / "app.yaml")
    done = simulated(other, "--replay", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "miss.yaml:4:14: this is a counter-example of application 'verdicts'" in done.stderr
    assert "is not declared" not in done.stderr
    assert not (tmp_path / "out").exists()
    done = simulated(str(app), "--replay", str(file), "--seed", "3", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "--seed: --replay states that" in done.stderr


TASKS = """
rclrt: 1
tasks:
  - {id: a, c: 2.6, t: 7}
  - {id: b, c: 6.2, t: 10, d: 11.6}
"""


def test_a_refuted_task_has_a_counter_example_that_replays(tmp_path: Path, rclrt: Rclrt) -> None:
    tasks, file = tmp_path / "tasks.yaml", tmp_path / "miss.json"
    tasks.write_text(TASKS)
    code, result = analysed(rclrt, tasks, "--counter-example", file)
    assert code == 1
    assert "counter_example" not in result["tasks"][0]
    # Lehoczky 1990, example 3: 114, 102, 116, 104, 118 is the worst.
    assert result["tasks"][1]["counter_example"]["response"] == 11.8
    replay = ("simulate", tasks, "--replay", file)
    answer = rclrt(*replay, "--fail-on-miss")
    assert answer.code == 1
    stated = "task b, job 4: response 11.8, deadline 11.6, late; the counter-example states 11.8"
    assert stated in answer.out
    tasks.write_text(TASKS.replace("11.6", "11.8"))
    assert rclrt(*replay, "--fail-on-miss").code == 0
    tasks.write_text(TASKS.replace("id: b", "id: c"))
    assert rclrt(*replay).code == 2
    tasks.write_text(TASKS)
    file.write_text(file.read_text().replace('"job": 4', '"job": 99999999999999999999'))
    answer = rclrt(*replay)
    assert answer.code == 2
    assert "job" in answer.err


def test_simulate_still_needs_an_executor_and_a_place(
    app: Path, tmp_path: Path, rclrt: Rclrt
) -> None:
    answer = rclrt("simulate", app, "--executor", "preemptive")
    assert answer.code == 2
    assert "no --out" in answer.err
    answer = rclrt("simulate", app, "--out", tmp_path / "out")
    assert answer.code == 2
    assert "no --executor; expected one of" in answer.err
