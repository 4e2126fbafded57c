# SPDX-License-Identifier: Apache-2.0
"""schemas/robot.schema.json agrees with the parser."""

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing
import yaml

REPOSITORY = Path(__file__).parents[3]
SCHEMA = json.loads((REPOSITORY / "schemas" / "robot.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
HOST_SCHEMA = json.loads((REPOSITORY / "schemas" / "host.schema.json").read_text())
HOST_VALIDATOR = jsonschema.Draft202012Validator(
    HOST_SCHEMA,
    registry=referencing.Registry().with_resource(
        SCHEMA["$id"], referencing.Resource.from_contents(SCHEMA)
    ),
)

Robot = dict[str, Any]

GOOD: Robot = {
    "rclrt": 1,
    "executor": {
        "kind": "producer_consumer",
        "realtime": "require",
        "preemption": "always",
        "top_priority": 80,
        "cpus": [3, 2],
        "scheduler_cpus": [1],
        "workers_per_level": 2,
    },
    "callbacks": [
        {"node": "/a", "timer": 0, "priority": 3, "deadline_ms": 5, "overload": "keep_last"},
        {
            "node": "/a",
            "group": 1,
            "subscription": "/points",
            "max_age_ms": 20,
            "stamped_by": "lidar-1.local",
        },
        {"node": "/a", "service": "/reset", "overload": "queue"},
        {"node": "/b", "timer_period_ms": 100, "whole_group": True, "priority": 2},
    ],
    "threads": [
        {"library": "libfast*", "policy": "fifo", "priority": 81},
        {"name": "a", "function": "*b*", "policy": "other", "nice": 1, "cpus": [0]},
        {"name": "gpu*", "policy": "keep"},
    ],
    "recording": {"directory": "out", "application": "app.yaml"},
    "monitor": {
        "period_ms": 500,
        "topic": "/d",
        "statistics": "/s",
        "misses": "/m",
        "traces": "out",
    },
    "memory": {"lock": True, "prefault_heap_mb": 8},
    "write_priorities": "found.yaml",
}

PLACES: dict[str, Callable[[Robot, Any], None]] = {
    "version": lambda robot, value: robot.update(rclrt=value),
    "another section": lambda robot, value: robot.update(nodes=value),
    "kind": lambda robot, value: robot["executor"].update(kind=value),
    "realtime": lambda robot, value: robot["executor"].update(realtime=value),
    "top priority": lambda robot, value: robot["executor"].update(top_priority=value),
    "CPU": lambda robot, value: robot["executor"].update(cpus=[value]),
    "preemption": lambda robot, value: robot["executor"].update(preemption=value),
    "scheduler's CPU": lambda robot, value: robot["executor"].update(scheduler_cpus=[value]),
    "kind alone": lambda robot, value: robot.update(executor={"kind": value}),
    "CPU of edf": lambda robot, value: robot.update(executor={"kind": "edf", "cpus": [value]}),
    "CPUs of edf": lambda robot, value: robot.update(executor={"kind": "edf", "cpus": [5, value]}),
    "preemption of picas": lambda robot, value: robot.update(
        executor={"kind": "picas", "preemption": value}
    ),
    "preemption of per_group": lambda robot, value: robot.update(
        executor={"kind": "per_group", "preemption": value}
    ),
    "workers of static_order": lambda robot, value: robot.update(
        executor={"kind": "static_order", "workers_per_level": value}
    ),
    "scheduler of nothing": lambda robot, value: robot.update(executor={"scheduler_cpus": [value]}),
    "reserved level": lambda robot, value: robot.update(
        executor={"reservations": [{"priority": value, "runtime_ms": 1, "period_ms": 10}]}
    ),
    "reserved period": lambda robot, value: robot.update(
        executor={"reservations": [{"priority": 1, "runtime_ms": 0.4, "period_ms": value}]}
    ),
    "reservation beside CPUs": lambda robot, value: robot.update(
        executor={
            "cpus": [value],
            "reservations": [{"priority": 1, "runtime_ms": 1, "period_ms": 10}],
        }
    ),
    "reservation without preemption": lambda robot, value: robot.update(
        executor={
            "preemption": value,
            "reservations": [{"priority": 1, "runtime_ms": 1, "period_ms": 10}],
        }
    ),
    "reservation of edf": lambda robot, value: robot.update(
        executor={
            "kind": "edf",
            "reservations": [{"priority": value, "runtime_ms": 1, "period_ms": 10}],
        }
    ),
    "workers": lambda robot, value: robot["executor"].update(workers_per_level=value),
    "best effort": lambda robot, value: robot.update(
        executor={"best_effort_below": value}, recording={"directory": "out"}
    ),
    "best effort of edf": lambda robot, value: robot.update(
        executor={"kind": "edf", "best_effort_below": value}, recording={"directory": "out"}
    ),
    "best effort of per_group": lambda robot, value: robot.update(
        executor={"kind": "per_group", "best_effort_below": value}, recording={"directory": "out"}
    ),
    "best effort with bounds": lambda robot, value: robot.update(
        executor={"best_effort_below": value}
    ),
    "node": lambda robot, value: robot["callbacks"][0].update(node=value),
    "timer": lambda robot, value: robot["callbacks"][0].update(timer=value),
    "group": lambda robot, value: robot["callbacks"][1].update(group=value),
    "timer's period": lambda robot, value: robot["callbacks"][3].update(timer_period_ms=value),
    "whole group": lambda robot, value: robot["callbacks"][3].update(
        whole_group=True if value == 1 else value
    ),
    "period of a subscription": lambda robot, value: robot["callbacks"][1].update(
        timer_period_ms=value
    ),
    "whole group of a node": lambda robot, value: robot.update(
        callbacks=[{"node": "/a", "whole_group": True, "priority": value}]
    ),
    "age of a whole group": lambda robot, value: robot["callbacks"][1].update(
        whole_group=True if value == 1 else value
    ),
    "priority": lambda robot, value: robot["callbacks"][0].update(priority=value),
    "deadline": lambda robot, value: robot["callbacks"][0].update(deadline_ms=value),
    "age": lambda robot, value: robot["callbacks"][1].update(max_age_ms=value),
    "host": lambda robot, value: robot["callbacks"][1].update(stamped_by=value),
    "age of a timer": lambda robot, value: robot["callbacks"][0].update(max_age_ms=value),
    "age and deadline": lambda robot, value: robot["callbacks"][1].update(deadline_ms=value),
    "two kinds": lambda robot, value: robot["callbacks"][0].update(service=value),
    "overload": lambda robot, value: robot["callbacks"][0].update(overload=value),
    "overload of a service": lambda robot, value: robot["callbacks"][2].update(overload=value),
    "lock": lambda robot, value: robot["memory"].update(lock=True if value == 1 else value),
    "heap": lambda robot, value: robot["memory"].update(prefault_heap_mb=value),
    "memory": lambda robot, value: robot.update(memory=value),
    "found priorities": lambda robot, value: robot.update(write_priorities=value),
    "pattern": lambda robot, value: robot["threads"][0].update(library=value),
    "policy": lambda robot, value: robot["threads"][2].update(policy=value),
    "thread's priority": lambda robot, value: robot["threads"][0].update(priority=value),
    "thread's nice value": lambda robot, value: robot["threads"][1].update(nice=value),
    "kept thread's CPUs": lambda robot, value: robot["threads"][2].update(cpus=value),
    "directory": lambda robot, value: robot["recording"].update(directory=value),
    "application": lambda robot, value: robot["recording"].update(application=value),
    "period": lambda robot, value: robot["monitor"].update(period_ms=value),
    "topic": lambda robot, value: robot["monitor"].update(topic=value),
    "misses": lambda robot, value: robot["monitor"].update(misses=value),
    "statistics": lambda robot, value: robot["monitor"].update(statistics=value),
    "traces": lambda robot, value: robot["monitor"].update(traces=value),
}
NEVER_GOOD = {
    "another section",
    "age of a timer",
    "CPUs of edf",
    "best effort of edf",
    "best effort with bounds",
    "reservation beside CPUs",
    "reservation of edf",
    "scheduler of nothing",
    "workers of static_order",
    "age and deadline",
    "age of a whole group",
    "period of a subscription",
    "whole group of a node",
    "two kinds",
    "kept thread's CPUs",
    "memory",
}

VALUES: list[Any] = [-21, 0, 1, 2, 95, 96, 98, 99, 1024, 1025, 1_000_001, 3_600_001, 0.5, None, []]
VALUES += ["", "/name", "name", "edf", "events", "try", "keep", "queue", "skip_if_running"]
VALUES += ["always", "never", "by_realtime", "static_order", "thread_dispatch"]


def parser_says(robot: Robot, file: Path, kind: str = "--robot") -> bool:
    file.write_text(yaml.safe_dump(robot))
    result = subprocess.run(
        [os.environ["RCLRT_MODEL_CHECK"], kind, file],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert result.returncode in (0, 2)
    return result.returncode == 0


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "file", ["examples/container", "examples/nav2", "src/rclrt_ros2_control/bench"]
)
def test_the_example_validates(file: str, tmp_path: Path) -> None:
    robot = yaml.safe_load((REPOSITORY / file / "robot.yaml").read_bytes())
    VALIDATOR.validate(robot)
    assert parser_says(robot, tmp_path / "robot.yaml")


@pytest.mark.parametrize("place", PLACES)
def test_the_parser_and_the_schema_have_the_same_limits(place: str, tmp_path: Path) -> None:
    verdicts = {}
    for value in VALUES:
        robot = copy.deepcopy(GOOD)
        PLACES[place](robot, value)
        parser = parser_says(robot, tmp_path / "robot.yaml")
        verdicts[repr(value)] = (parser, VALIDATOR.is_valid(robot))
    assert {value for value, (parser, schema) in verdicts.items() if parser != schema} == set()
    expected = {False} if place in NEVER_GOOD else {True, False}
    assert {parser for parser, _ in verdicts.values()} == expected


@pytest.mark.parametrize("section", GOOD)
def test_only_the_version_is_required(section: str, tmp_path: Path) -> None:
    robot = copy.deepcopy(GOOD)
    del robot[section]
    assert parser_says(robot, tmp_path / "robot.yaml") == (section != "rclrt")
    assert VALIDATOR.is_valid(robot) == (section != "rclrt")


PROCESS: Robot = {"name": "one"} | {key: value for key, value in GOOD.items() if key != "rclrt"}


@pytest.mark.parametrize(
    ("host", "is_good"),
    [
        (
            {"rclrt": 1, "processes": [PROCESS, {"name": "two", "executor": {"top_priority": 80}}]},
            True,
        ),
        ({"rclrt": 1, "processes": [{"name": "one"}]}, True),
        ({"rclrt": 1, "processes": []}, False),
        ({"rclrt": 1, "processes": [{}]}, False),
        ({"rclrt": 1, "processes": [{"name": "one", "rclrt": 1}]}, False),
        ({"rclrt": 1, "processes": [{"name": "one two"}]}, False),
        ({"rclrt": 1, "processes": [{"name": "one", "monitor": {"period_ms": 1}}]}, False),
        ({"rclrt": 1}, False),
        ({"rclrt": 2, "processes": [{"name": "one"}]}, False),
        ({"processes": [{"name": "one"}]}, False),
    ],
)
def test_the_hosts_schema_and_parser_agree(host: Robot, is_good: bool, tmp_path: Path) -> None:
    assert parser_says(host, tmp_path / "host.yaml", "--host") == is_good
    assert HOST_VALIDATOR.is_valid(host) == is_good


def test_a_host_file_states_all_keys_of_a_robot_file() -> None:
    process = HOST_SCHEMA["properties"]["processes"]["items"]["properties"]
    assert set(process) - {"name"} == set(SCHEMA["properties"]) - {"rclrt"}
