# SPDX-License-Identifier: Apache-2.0
"""The searches and simulations that the page of `rclrt plan` asks its server for."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.testing.plan_server import Plan
from rclrt_py.testing.waiting import GENEROUS_S, wait_for


def finished(plan: Plan, kind: str, **options: Any) -> Any:
    """Returns the result of a job."""
    job = plan.call("job", kind=kind, options=options)["job"]
    limit = time.monotonic() + GENEROUS_S
    while (state := plan.call("job_state", job=job))["state"] == "runs":
        assert time.monotonic() < limit
        time.sleep(0.02)
    return state


def turn_round(plan: Plan) -> None:
    """Gives the chains the reverse of their priorities."""
    plan.call("change", changes=plan.turned_round(), label="turned round")


def test_priorities_are_proposed_and_the_proposal_has_its_bounds(plan: Plan) -> None:
    turn_round(plan)
    assert not plan.call("state")["answer"]["analysis"]["feasible"]
    found = finished(plan, "synthesize", source="bounds")["result"]
    assert all(chain["verdict"] in ("proved", "conditional") for chain in found["after"])
    state = plan.call("change", changes=found["changes"], label="taken")
    assert state["answer"]["analysis"]["feasible"] is True
    assert plan.chains(state) == found["after"]


def test_an_assignment_proposes_executors_cpus_and_priorities(plan: Plan) -> None:
    turn_round(plan)
    found = finished(plan, "assign", cpus=[1, 2])["result"]
    state = plan.call("change", changes=found["changes"], label="taken")
    assert plan.chains(state) == found["after"]
    assert state["answer"]["analysis"]["feasible"] is True


def test_margins_misses_and_simulations_are_found(plan: Plan) -> None:
    margins = finished(plan, "sensitivity")["result"]["margins"]
    assert margins["factor"] > 1
    turn_round(plan)
    found = finished(plan, "find_miss")["result"]
    assert {each["chain"] for each in found["misses"]} >= {"obstacle"}
    assert found["simulation"]["gantt"]["choices"][0]["label"].startswith("counter-example of")
    first = found["simulation"]["gantt"]["choices"][0]["panels"][0]["responses"]
    released = [sum(row[0] == chain and row[2] >= 0 for row in first) for chain in range(4)]
    assert released == [10, 10, 5, 1]  # in 500 ms
    simulated = finished(plan, "simulate")["result"]["simulation"]
    assert [chain["id"] for chain in simulated["chains"]] == [
        "obstacle",
        "planning",
        "mapping",
        "logging",
    ]
    assert simulated["gantt"]["choices"]


def test_a_job_that_cannot_be_done_says_why(plan: Plan) -> None:
    plan.call("executor", executor="wait_set")
    state = finished(plan, "synthesize")
    assert state["state"] == "failed"
    assert "does not run callbacks by priority" in state["error"]
    assert finished(plan, "nonsense")["error"] == "unknown request 'nonsense'"
    with pytest.raises(BadInput, match="no such job"):
        plan.call("job_state", job="x")


def test_a_job_is_stopped_and_leaves_nothing(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    job = plan.call("job", kind="simulate", options={"seconds": 60})["job"]
    plan.call("job_stop", job=job)
    limit = time.monotonic() + GENEROUS_S
    while (state := plan.call("job_state", job=job))["state"] == "runs":
        assert time.monotonic() < limit
    assert state["state"] == "stopped"
    wait_for(lambda: not any(place.iterdir()))


def test_jobs_are_listed_until_they_are_forgotten(plan: Plan) -> None:
    assert plan.call("state")["jobs"] == []
    base = plan.call("state")["version"]
    finished(plan, "sensitivity")
    long = plan.call("job", kind="simulate", options={"seconds": 60})["job"]
    listed = plan.call("state")["jobs"]
    assert [(each["kind"], each["version"], each["state"]) for each in listed] == [
        ("simulate", base, "runs"),
        ("sensitivity", base, "done"),
    ]
    plan.call("job_forget", job=long)
    plan.call("job_forget", job=long)  # of two pages
    assert [each["kind"] for each in plan.call("state")["jobs"]] == ["sensitivity"]
    with pytest.raises(BadInput, match="no such job"):
        plan.call("job_state", job=long)


def test_the_page_in_one_file_has_the_state_in_it(plan: Plan) -> None:
    text = plan.call("page")["html"]
    assert "connect-src" not in text.partition("</head>")[0]
    assert '"id":"obstacle"' in text
