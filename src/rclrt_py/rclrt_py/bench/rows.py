# SPDX-License-Identifier: Apache-2.0
"""The document that `executors` of rclrt_bench prints (schemas/bench.schema.json)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.files.json_reader import JsonValue

BENCH_VERSION = 1
BARE = "bare"
"""Executor name of the rows without an executor: the kernel and the middleware alone."""


@dataclass(frozen=True)
class Row:
    """One case under one executor. Times are in microseconds; None means not measured."""

    case: str
    executor: str
    cpus: int
    entity: str
    entities: int
    levels: int
    n: int
    p50: float | None
    p99: float | None
    p999: float | None
    max: float | None
    lost: int
    allocations: float | None
    system_calls: float | None
    cpu: float | None
    floor: float | None
    per_second: float | None

    @classmethod
    def read(cls, value: JsonValue) -> Row:
        def optional(key: str) -> float | None:
            return value.get(key).number_or_none()

        return cls(
            case=value.get("case").text(),
            executor=value.get("executor").text(),
            cpus=value.get("cpus").count(),
            entity=value.get("entity").text(),
            entities=value.get("entities").count(),
            levels=value.get("levels").count(),
            n=value.get("n").count(),
            p50=optional("p50_us"),
            p99=optional("p99_us"),
            p999=optional("p999_us") if value.has("p999_us") else None,
            max=optional("max_us"),
            lost=value.get("lost").count(),
            allocations=optional("allocations"),
            system_calls=optional("system_calls"),
            cpu=optional("cpu_us"),
            floor=optional("floor_us"),
            per_second=optional("per_second"),
        )


@dataclass(frozen=True)
class Benchmark:
    """One run of the program."""

    kernel: str
    cpu: str
    realtime: bool
    realtime_reason: str
    system_calls_reason: str
    quick: bool
    quiet: bool
    rounds: int
    samples_per_round: int
    seconds: float
    load_before: float
    steal_ms: float
    rows: tuple[Row, ...]

    @classmethod
    def load(cls, path: Path) -> Benchmark:
        document = JsonValue.load(path)
        version = document.get("rclrt_bench")
        if version.integer() != BENCH_VERSION:
            version.fail(f"format version {BENCH_VERSION}")
        machine = document.get("machine")
        rows = tuple(Row.read(item) for item in document.get("rows").items())
        if not rows:
            raise BadInput(f"{path}: rows is empty; expected at least one")
        return cls(
            kernel=machine.get("kernel").text(),
            cpu=machine.get("cpu").text(),
            realtime=document.get("realtime").boolean(),
            realtime_reason=document.get("realtime_reason").text(),
            system_calls_reason=document.get("system_calls_reason").text(),
            quick=document.get("quick").boolean(),
            quiet=document.get("quiet").boolean(),
            rounds=document.get("rounds").count(),
            samples_per_round=document.get("samples_per_round").count(),
            seconds=document.get("seconds").number(),
            load_before=document.get("load_before").number(),
            steal_ms=document.get("steal_ms").number(),
            rows=rows,
        )

    def select(
        self,
        case: str,
        entity: str | None = None,
        executor: str | None = None,
        cpus: int | None = None,
    ) -> list[Row]:
        """Returns the rows of a case, filtered by the given values, in the order of the file."""
        return [
            row
            for row in self.rows
            if row.case == case
            and (entity is None or row.entity == entity)
            and (executor is None or row.executor == executor)
            and (cpus is None or row.cpus == cpus)
        ]

    def find(self, case: str, entity: str, executor: str, cpus: int) -> Row | None:
        return next(iter(self.select(case, entity, executor, cpus)), None)

    @property
    def cpu_counts(self) -> list[int]:
        return sorted({row.cpus for row in self.rows})

    @property
    def executors(self) -> list[str]:
        """Returns the executors in the order of the file, without the bare rows."""
        return list(dict.fromkeys(row.executor for row in self.rows if row.executor != BARE))
