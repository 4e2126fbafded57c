# SPDX-License-Identifier: Apache-2.0
"""From a model to an answer: schedulability, response times, priorities. Pure functions.

    task_file = rclrt_analysis.load_task_set("tasks.yaml")
    result = rclrt_analysis.analyse_tasks(task_file.tasks, task_file.policy)
    for task, found in zip(task_file.tasks, result.tasks, strict=True):
        print(task.id, found.response, found.schedulable)

Times of tasks are whole ticks; `in_units` writes them as the file does.
"""

from rclrt_analysis._native import (
    MAPPABLE_LEVELS,
    ChainBound,
    Contribution,
    FileError,
    Task,
    TaskFile,
    TaskResult,
    TaskSetResult,
    ThesisChain,
    ThesisResult,
    analyse_tasks,
    chain_assumptions,
    chain_bounds,
    compress_levels,
    edf_demand_test,
    in_units,
    is_plain_rate_monotonic,
    liu_layland_bound,
    load_task_set,
    parse_task_set,
    passes_hyperbolic_bound,
    passes_liu_layland,
    synthesize_priorities,
    thesis_feasibility,
    thesis_harmonic,
    utilisation,
    with_priorities,
)

__all__ = [
    "MAPPABLE_LEVELS",
    "ChainBound",
    "Contribution",
    "FileError",
    "Task",
    "TaskFile",
    "TaskResult",
    "TaskSetResult",
    "ThesisChain",
    "ThesisResult",
    "analyse_tasks",
    "chain_assumptions",
    "chain_bounds",
    "compress_levels",
    "edf_demand_test",
    "in_units",
    "is_plain_rate_monotonic",
    "liu_layland_bound",
    "load_task_set",
    "parse_task_set",
    "passes_hyperbolic_bound",
    "passes_liu_layland",
    "synthesize_priorities",
    "thesis_feasibility",
    "thesis_harmonic",
    "utilisation",
    "with_priorities",
]
