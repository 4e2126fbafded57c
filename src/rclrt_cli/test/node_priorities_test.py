# SPDX-License-Identifier: Apache-2.0
"""`rclrt synthesize --nodes`: priorities by the names of the graph, as the C++ reader has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_cli.main import main

import rclrt_model

APPLICATION = """
rclrt: 1
name: demo
executors: [{name: main, cpus: [0]}]
nodes: [{name: lidar, namespace: /front}, {name: brake, namespace: /front}]
callbacks:
  - {id: watch, node: lidar, timer: {period_ms: 100}, wcet_ms: 1, group: slow}
  - {id: scan, node: lidar, timer: {period_ms: 20}, wcet_ms: 1, publishes: [points, /raw]}
  - {id: spare, node: lidar, timer: {period_ms: 100}, wcet_ms: 1}
  - {id: late, node: lidar, timer: {period_ms: 100}, wcet_ms: 1, group: slow}
  - {id: stop, node: brake, subscription: {topic: points}, wcet_ms: 1}
  - {id: log, node: brake, subscription: {topic: points}, wcet_ms: 1}
  - {id: join, node: brake, sync: {topics: [points, /raw], window_ms: 5}, wcet_ms: 1,
     group: slow}
chains:
  - {id: obstacle, callbacks: [scan, stop], priority: 7}
  - {id: logging, callbacks: [scan, log], priority: 1}
  - {id: joining, callbacks: [scan, join], priority: 3}
  - {id: watching, callbacks: [watch], priority: 2}
"""

Entry = tuple[str, int | None, str | None, str]


@pytest.fixture
def application(tmp_path: Path) -> Path:
    file = tmp_path / "app.yaml"
    file.write_text(APPLICATION)
    return file


def written(application: Path, *options: str) -> dict[Entry, int | None]:
    file = application.parent / "nodes.yaml"
    assert main(["synthesize", str(application), "--nodes", "-o", str(file), *options]) == 0
    return {
        (each.node, each.group, each.kind, each.name): each.priority
        for each in rclrt_model.load_node_timings(file)
    }


def test_every_callback_has_its_place_in_the_graph(
    application: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = written(application)
    assert main(["synthesize", str(application), "--json"]) == 0
    of = {
        callback["id"]: callback["priority"]
        for callback in json.loads(capsys.readouterr().out)["callbacks"]
    }
    assert entries == {
        ("/front/lidar", 1, "timer", "0"): of["watch"],
        ("/front/lidar", 0, "timer", "0"): of["scan"],
        ("/front/lidar", 0, "timer", "1"): of["spare"],
        ("/front/lidar", 1, "timer", "1"): of["late"],
        ("/front/brake", None, "subscription", "/front/points"): max(of["stop"], of["log"]),
        ("/front/brake", 1, "subscription", "/front/points"): of["join"],
        ("/front/brake", 1, "subscription", "/raw"): of["join"],
    }
    assert of["stop"] > of["join"] > of["log"]


def test_merged_levels_are_what_is_written(application: Path) -> None:
    assert len(set(written(application).values())) > 2
    assert len(set(written(application, "--levels", "2").values())) == 2


def test_it_prints_where_no_file_is_named_and_says_why(
    application: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synthesize", str(application), "--nodes"]) == 0
    text = capsys.readouterr().out
    assert "  - {node: /front/lidar, timer: 0, priority: " in text
    assert "# stop: " in text
    assert "; the highest of them\n" in text


def test_events_are_named_because_the_graph_has_no_place_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(
        APPLICATION.replace(
            "chains:",
            "  - {id: bumper, node: brake, event: {min_interval_ms: 20}, wcet_ms: 0.2}\n"
            "chains:\n  - {id: contact, callbacks: [bumper], priority: 9}",
        )
    )
    assert len(written(file)) == 7
    expected = "rclrt: no entry for 1 event (bumper): add one for the subscription, service or"
    assert expected in capsys.readouterr().err
    text = (tmp_path / "nodes.yaml").read_text()
    assert "# Events: add an entry" in text
    assert "#   bumper: priority " in text


def test_a_mistake_in_such_a_file_is_located(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text("rclrt: 1\ncallbacks:\n  - {node: lidar, priority: 1}\n")
    with pytest.raises(rclrt_model.ModelError, match=r"nodes\.yaml:3:12: node is 'lidar'"):
        rclrt_model.load_node_timings(file)
