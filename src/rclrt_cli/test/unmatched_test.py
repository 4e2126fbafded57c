# SPDX-License-Identifier: Apache-2.0
"""Synchronisers of unequal rates: no command counts a miss that `analyze` proves impossible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_py.testing.command import finished

APPLICATION = """
rclrt: 1
name: fusion
executors: [{{name: main, cpus: [0]}}]
nodes: [{{name: n}}]
callbacks:
  - {{id: fast, node: n, timer: {{period_ms: {fast}}}, wcet_ms: 0.1, publishes: [fast]}}
  - {{id: slow, node: n, timer: {{period_ms: {slow}}}, wcet_ms: 0.2, publishes: [slow]}}
  - {{id: fuse, node: n, sync: {{topics: [fast, slow]{sync}}}, wcet_ms: 0.3, publishes: [out]}}
  - {{id: act, node: n, subscription: {{topic: out}}, wcet_ms: 0.1}}
chains:
  - {{id: of_fast, callbacks: [fast, fuse, act], deadline_ms: {deadline}}}
  - {{id: of_slow, callbacks: [slow, fuse, act], deadline_ms: {deadline}}}
"""


@pytest.mark.parametrize(
    ("fast", "slow", "sync"),
    [(20, 40, ""), (10, 33, ", window_ms: 30"), (10, 33, ", window_ms: 2"), (5, 100, ", depth: 3")],
)
def test_what_is_proved_of_unequal_rates_is_not_missed(
    fast: int, slow: int, sync: str, tmp_path: Path
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.format(fast=fast, slow=slow, sync=sync, deadline=slow + 60))
    proved = finished(
        "analyze", str(app), "--executor", "preemptive", "--dispatch-us", "0", "--json"
    )
    assert proved.returncode == 0, proved.stdout
    assert {each["verdict"] for each in json.loads(proved.stdout)["chains"]} == {"proved"}
    out = tmp_path / "out"
    done = finished(
        "simulate", str(app), "--executor", "preemptive", "--seconds", "3",
        "--fail-on-miss", "--out", str(out),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    chains = {each["id"]: each for each in json.loads((out / "results.json").read_text())["chains"]}
    assert chains["of_fast"]["unmatched"] > chains["of_fast"]["completed"] / 2
    assert [chains[name]["missed"] for name in chains] == [0, 0]
    due = chains["of_fast"]["released"] - chains["of_fast"]["unmatched"]
    assert f"unmatched {chains['of_fast']['unmatched']}, due {due}" in done.stdout
    assert "It is no miss." in done.stdout


def test_the_report_names_what_was_unmatched(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.format(fast=20, slow=40, sync="", deadline=100))
    done = finished("simulate", str(app), "--executor", "wait_set", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert '"unmatched":' in page.replace(" ", "")
    assert "a synchroniser took in and left over" in page
