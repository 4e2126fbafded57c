# SPDX-License-Identifier: Apache-2.0
"""Counter-examples of task sets as files, and their simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.analyses.tasks import parse_tasks
from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis, read_input, read_kind

if TYPE_CHECKING:
    from rclrt_analysis import TaskCounterExample, TaskFile

MOST_TICKS = 1 << 60


def to_text(file: TaskFile, example: TaskCounterExample) -> str:
    """Returns JSON. Times are whole ticks, so that nothing is rounded."""
    ids = [task.id for task in file.tasks]
    document = {
        "rclrt": 1,
        "policy": file.policy,
        "ticks_per_unit": 10**file.decimals,
        "task": ids[example.task],
        "job": example.job,
        "arrival": example.arrival,
        "response": example.response,
        "deadline": file.tasks[example.task].deadline,
        "offsets": dict(zip(ids, example.offsets, strict=True)),
        "first_jitter": dict(zip(ids, example.jitter, strict=True)),
    }
    return json.dumps(document, indent=1) + "\n"


def run(tasks: Path, path: Path) -> tuple[str, bool]:
    """Simulates the counter-example's job. Returns its result, and whether it was late."""
    module = analysis()
    file = parse_tasks(read_input(tasks), str(tasks))
    example = _load(path, file)
    try:
        response = module.replay_tasks(file.tasks, file.policy, example)
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    task = file.tasks[example.task]
    late = response is None or response > task.deadline
    said = "does not end" if response is None else _units(response, file)
    return (
        f"task {task.id}, job {example.job}: response {said}, deadline "
        f"{_units(task.deadline, file)}, {'late' if late else 'in time'}; the counter-example "
        f"states {_units(example.response, file)}"
    ), late


def _units(ticks: int, file: TaskFile) -> str:
    text: str = analysis().in_units(ticks, file.decimals)
    return text


def _load(path: Path, file: TaskFile) -> TaskCounterExample:
    document = JsonValue.parse(read_kind(path, "task_counter_example"), path)
    if document.get("rclrt").integer() != 1:
        document.get("rclrt").fail("format version 1")
    for key, own in (("policy", file.policy), ("ticks_per_unit", 10**file.decimals)):
        if document.get(key).value != own:
            document.get(key).fail(f"{own!r}, as the task set has it")
    ids = [task.id for task in file.tasks]
    name = document.get("task").text()
    if name not in ids:
        document.get("task").fail("a task of the set")
    example: TaskCounterExample = analysis().TaskCounterExample(
        offsets=[_ticks(document.get("offsets").get(task)) for task in ids],
        jitter=[_ticks(document.get("first_jitter").get(task)) for task in ids],
        task=ids.index(name),
        job=_ticks(document.get("job")),
        arrival=_ticks(document.get("arrival")),
        response=_ticks(document.get("response")),
    )
    return example


def _ticks(value: JsonValue) -> int:
    if value.count() > MOST_TICKS:
        value.fail(f"at most {MOST_TICKS}")
    return value.count()
