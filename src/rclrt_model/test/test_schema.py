# SPDX-License-Identifier: Apache-2.0
"""schemas/app.schema.json agrees with the parser as far as a schema can."""

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from broken_applications import broken_applications

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
SCHEMA = json.loads((REPOSITORY / "schemas" / "app.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
BROKEN = broken_applications()

# Mistakes that only the parser can find: it knows the text, the names and the graph.
NOT_STRUCTURAL = {
    "callback_duplicate_id",
    "callback_executor_in_another_process",
    "callback_executor_on_another_host",
    "callback_executor_splits_a_group",
    "callback_executor_unknown",
    "callback_that_waits_without_cpu_time",
    "callback_unknown_node",
    "chain_against_the_routes",
    "chain_backwards",
    "chain_duplicate_id",
    "chain_no_path",
    "chain_unknown_callback",
    "chain_without_timer",
    "event_interval_below_a_microsecond",
    "event_intervals_backwards",
    "event_jitter_of_a_period",
    "event_min_interval_above_the_period",
    "event_period_below_a_microsecond",
    "executor_cpu_not_of_its_host",
    "executor_duplicate",
    "executor_host_unknown",
    "executor_unknown",
    "graph_callback_triggers_itself",
    "graph_cycle",
    "graph_two_cycles",
    "host_twice",
    "link_burst_below_a_packet",
    "link_cross_traffic_from_a_third_host",
    "link_headers_above_the_mtu",
    "link_latency_backwards",
    "link_shaper_above_the_line",
    "link_to_a_host_unknown",
    "link_twice",
    "node_duplicate",
    "publishes_answers_unknown_topic",
    "publishes_of_a_timer_is_a_mapping",
    "service_calls_client_of_another_node",
    "service_calls_no_client",
    "service_chain_no_path",
    "service_client_without_caller",
    "service_cycle",
    "service_no_client",
    "service_no_server",
    "service_publishes_a_mapping",
    "service_two_namespaces",
    "service_two_servers",
    "text_alias",
    "text_anchor",
    "text_duplicate_key",
    "text_merge_key",
    "text_tag",
    "thread_reservation_backwards",
    "thread_twice",
    "time_period_leading_zero",
    "time_wcet_below_a_nanosecond",
    "time_wcet_not_a_number",
    "topic_nobody_publishes",
    "topic_section_twice",
    "topic_section_unused",
    "topic_too_long",
    "topic_two_meanings",
    "topic_two_spellings",
    "variable_on_another_host",
}


def structurally_valid(text: bytes) -> bool:
    """Returns the verdict of an editor with the schema; text that is no YAML is not valid."""
    try:
        return bool(VALIDATOR.is_valid(yaml.safe_load(text)))
    except yaml.YAMLError:
        return False


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "file", sorted((REPOSITORY / "examples").glob("*/app.yaml")), ids=lambda f: f.parent.name
)
def test_every_example_validates(file: Path) -> None:
    VALIDATOR.validate(yaml.safe_load(file.read_bytes()))


@pytest.mark.parametrize("name", BROKEN)
def test_the_schema_refuses_exactly_the_structural_errors(name: str) -> None:
    assert structurally_valid(BROKEN[name].text) == (name in NOT_STRUCTURAL)


def test_the_list_of_other_errors_names_existing_cases() -> None:
    assert set(BROKEN) >= NOT_STRUCTURAL


Application = dict[str, Any]

GOOD: Application = {
    "rclrt": 1,
    "name": "demo",
    "executors": [{"name": "main", "cpus": [0]}],
    "nodes": [{"name": "n"}],
    "callbacks": [
        {"id": "a", "node": "n", "timer": {"period_ms": 50}, "wcet_ms": 1, "publishes": ["x"]},
        {"id": "b", "node": "n", "timer": {"period_ms": 50}, "wcet_ms": 1, "publishes": ["y"]},
        {"id": "c", "node": "n", "subscription": {"topic": "x"}, "wcet_ms": 1},
        {"id": "d", "node": "n", "sync": {"topics": ["x", "y"]}, "wcet_ms": 1, "calls": ["f"]},
        {"id": "e", "node": "n", "service": {"name": "s"}, "wcet_ms": 1},
        {"id": "f", "node": "n", "client": {"service": "s"}, "wcet_ms": 1},
    ],
    "topics": [{"name": "x"}],
    "chains": [{"id": "t", "callbacks": ["a", "c"], "priority": 1}],
    "threads": [{"name": "middleware", "policy": "fifo", "priority": 50}],
}

LINK: dict[str, Any] = {"name": "cable", "between": ["here", "there"], "rate_kbit": 100_000}


def two_hosts(app: Application, **link: Any) -> None:
    """Adds two hosts and a link with these keys."""
    app["hosts"] = [{"name": "here", "cpus": [0]}, {"name": "there"}]
    app["executors"][0]["host"] = "here"
    app["links"] = [LINK | link]


def cross_traffic(app: Application, **traffic: Any) -> None:
    two_hosts(app, cross_traffic=[{"from": "here", "rate_kbit": 1, "burst_bytes": 1} | traffic])


PLACES: dict[str, Callable[[Application, Any], None]] = {
    "format version": lambda app, value: app.update(rclrt=value),
    "CPU": lambda app, value: app["executors"][0].update(cpus=[value]),
    "scheduler's CPU": lambda app, value: app["executors"][0].update(scheduler_cpus=[value]),
    "top priority": lambda app, value: app["executors"][0].update(top_priority=value),
    "iterations": lambda app, value: app["callbacks"][0].update(
        workload={"name": "sort", "iterations": value}
    ),
    "observations": lambda app, value: app["callbacks"][0].update(
        observed={"n": value, "p50_ms": 0, "p99_ms": 0, "max_ms": 0}
    ),
    "observed time": lambda app, value: app["callbacks"][0].update(
        observed={"n": 1, "p50_ms": 0, "p99_ms": 0, "max_ms": value}
    ),
    "wcet": lambda app, value: app["callbacks"][0].update(wcet_ms=value),
    "wait": lambda app, value: app["callbacks"][0].update(waits_ms=value),
    "period": lambda app, value: app["callbacks"][0]["timer"].update(period_ms=value),
    "offset": lambda app, value: app["callbacks"][0]["timer"].update(offset_ms=value),
    "depth": lambda app, value: app["callbacks"][2]["subscription"].update(depth=value),
    "depth of a sync": lambda app, value: app["callbacks"][3]["sync"].update(depth=value),
    "depth of a service": lambda app, value: app["callbacks"][4]["service"].update(depth=value),
    "depth of a client": lambda app, value: app["callbacks"][5]["client"].update(depth=value),
    "window": lambda app, value: app["callbacks"][3]["sync"].update(window_ms=value),
    "own priority": lambda app, value: app["callbacks"][0].update(priority=value),
    "size": lambda app, value: app["topics"][0].update(size_bytes=value),
    "network priority": lambda app, value: app["topics"][0].update(network_priority=value),
    "host's CPU": lambda app, value: app.update(
        hosts=[{"name": "here", "cpus": [0, value]}],
        executors=[{"name": "main", "host": "here", "cpus": [0]}],
    ),
    "link's rate": lambda app, value: two_hosts(app, rate_kbit=value),
    "link's latency": lambda app, value: two_hosts(app, latency_ms=value),
    "link's access": lambda app, value: two_hosts(app, access_ms=value),
    "link's framing": lambda app, value: two_hosts(app, framing_bytes=value),
    "link's packets": lambda app, value: two_hosts(app, mtu_bytes=value, header_bytes=0),
    "cross traffic's rate": lambda app, value: cross_traffic(app, rate_kbit=value),
    "cross traffic's burst": lambda app, value: cross_traffic(app, burst_bytes=value),
    "cross traffic's priority": lambda app, value: cross_traffic(app, priority=value),
    "chain's priority": lambda app, value: app["chains"][0].update(priority=value),
    "priority of a chain beside one without": lambda app, value: app.update(
        chains=[{"id": "s", "callbacks": ["a", "c"]}, app["chains"][0] | {"priority": value}]
    ),
    "deadline": lambda app, value: app["chains"][0].update(deadline_ms=value),
    "thread's priority": lambda app, value: app["threads"][0].update(priority=value),
    "thread's nice value": lambda app, value: app.update(
        threads=[{"name": "middleware", "policy": "other", "nice": value}]
    ),
    "thread's runtime": lambda app, value: app.update(
        threads=[
            {
                "name": "middleware",
                "policy": "deadline",
                "runtime_ms": value,
                "period_ms": 3_600_000,
            }
        ]
    ),
    "thread's period": lambda app, value: app.update(
        threads=[
            {"name": "middleware", "policy": "deadline", "runtime_ms": 0.1, "period_ms": value}
        ]
    ),
}

LIMITS = [-21, -20, -1, 0, 1, 2, 19, 20, 98, 99, 1023, 1024, 10_000, 10_001, 1_000_000, 1_000_001]
LIMITS += [3_600_000, 3_600_001, 2**28, 2**28 + 1, 2**31, 2**63]


@pytest.mark.parametrize("place", PLACES)
def test_the_parser_and_the_schema_have_the_same_limits(place: str, tmp_path: Path) -> None:
    verdicts = {}
    values: list[Any] = [*LIMITS, 0.5, 2.5, True, None, "1", "word", [], {}]
    for value in values:
        app = copy.deepcopy(GOOD)
        PLACES[place](app, value)
        text = yaml.safe_dump(app).encode()
        file = tmp_path / "app.yaml"
        file.write_bytes(text)
        result = subprocess.run(
            [os.environ["RCLRT_MODEL_CHECK"], file], capture_output=True, check=False, timeout=120
        )
        verdicts[repr(value)] = (result.returncode == 0, structurally_valid(text))
    assert {value for value, (parser, schema) in verdicts.items() if parser != schema} == set()
    assert {parser for parser, _ in verdicts.values()} == {True, False}
