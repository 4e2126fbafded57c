# SPDX-License-Identifier: Apache-2.0
"""Reads the runner's CSV files row by row. An error names the file, line and column of the cell."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from rclrt_py.errors import BadInput
from rclrt_py.runs.cpu_parts import EXPECTED, CpuParts, parse_cpus

CHAIN_COLUMNS = "chain,instance,release_ns,completion_ns,response_ns,status,host_stall_ns".split(
    ","
)
HOST_CHAIN_COLUMNS = [*CHAIN_COLUMNS, "error_ns"]
"""Results over several hosts have the error of each response time."""
OUTPUT_COLUMNS = ["chain", "release_ns", "end_ns", "age_ns", "reaction_ns"]
INSTANCE_COLUMNS = (
    "id,callback,priority,thread,release_ns,ready_ns,start_ns,end_ns,"
    "cpu_ns,preemptions,outcome,tokens,cpus".split(",")
)
OLD_INSTANCE_COLUMNS = INSTANCE_COLUMNS[:-1]
"""Results of rclrt 0.2 and earlier do not have the CPUs."""
HOST_INSTANCE_COLUMNS = [*INSTANCE_COLUMNS, "error_ns"]
OTHER_INSTANCE_COLUMNS = (OLD_INSTANCE_COLUMNS, HOST_INSTANCE_COLUMNS)
STALL_COLUMNS = ["cpu", "start_ns", "end_ns", "waited_ns"]
STATUSES = ("completed", "late", "dropped", "pending", "unmatched", "unknown")
FINISHED = ("completed", "late", "unknown")
"""The statuses of instances with a response time."""
OUTCOMES = ("ran", "buffered", "empty")
_LIMIT = 2**63
_PLAIN_DIGITS = 18
"""Numbers of this many digits always fit."""

Row = TypeVar("Row")

# An instance that was preempted thousands of times has so many parts: a long cell. The limit of
# Python's reader is 128 KiB.
csv.field_size_limit(2**30)


class ChainRow(NamedTuple):
    """One instance of a chain; times in nanoseconds since the start of the run."""

    chain: str
    instance: int
    release: int
    completion: int | None
    response: int | None
    status: str
    host_stall: int
    error: int = 0
    """The response time is wrong by at most this, in either direction: over several hosts."""


class OutputRow(NamedTuple):
    """One output of a cause-effect chain; times in nanoseconds."""

    chain: str
    end: int
    """Since the start of the run."""
    age: int
    reaction: int | None
    """None: its data are not new, or the first ones."""


class InstanceRow(NamedTuple):
    """One instance of a callback; times in nanoseconds since the start of the run."""

    id: int
    callback: str
    priority: int
    thread: str
    release: int
    ready: int
    start: int
    end: int
    cpu: int
    preemptions: int
    outcome: str
    tokens: str
    cpus: CpuParts = ()
    """The CPUs on which it ran. Empty: not known."""
    error: int = 0
    """Its times are wrong by at most this, in either direction: over several hosts."""


@dataclass(frozen=True, slots=True)
class StallRow:
    """A row of stalls.csv: an interval in which the virtual machine's host did not run a CPU. Times
    are nanoseconds since the start of the run."""

    cpu: int
    start: int
    end: int
    waited: int = 0
    """Time of the interval in which the probe was ready: the kernel did not run it."""

    @property
    def host_end(self) -> int:
        """Returns the end of the host's part: from `start` to here the probe was not even woken."""
        return max(self.start, self.end - self.waited)


class Cells:
    """The cells of one line."""

    def __init__(self, place: str, columns: list[str], cells: list[str]) -> None:
        self.place = place
        self._cells = dict(zip(columns, cells, strict=True))

    def text(self, column: str) -> str:
        return self._cells[column]

    def one_of(self, column: str, allowed: tuple[str, ...]) -> str:
        text = self._cells[column]
        if text not in allowed:
            raise BadInput(
                f"{self.place}: {column} is '{text}'; expected one of {', '.join(allowed)}"
            )
        return text

    def optional(self, column: str) -> int | None:
        text = self._cells.get(column, "")
        return self.integer(column) if text else None

    def cpus(self, column: str) -> CpuParts:
        """Returns the CPUs of an instance; empty if the file does not have the column."""
        text = self._cells.get(column, "")
        parts = parse_cpus(text)
        if parts is None:
            raise BadInput(f"{self.place}: {column} is '{text[:40]}'; expected {EXPECTED}")
        return parts

    def not_negative(self, *columns: str) -> None:
        """Refuses a cell below 0. Empty cells and absent columns are none."""
        for column in columns:
            if (self.optional(column) or 0) < 0:
                raise BadInput(f"{self.place}: {column} is {self.text(column)}; expected 0 or more")

    def not_before(self, column: str, begin: str, error_ns: int) -> None:
        """Refuses a time before that of column `begin`, unless the error of hosts' clocks explains
        it. An empty cell is none."""
        time, since = self.optional(column), self.integer(begin)
        if time is not None and time < since - error_ns:
            raise BadInput(
                f"{self.place}: {column} is {time}; expected no less than {begin}, {since}"
            )

    def integer(self, column: str) -> int:
        text = self._cells[column]
        if text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20:
            value = int(text)
            if -_LIMIT <= value < _LIMIT:
                return value
        raise BadInput(f"{self.place}: {column} is '{text[:40]}'; expected a whole number")


class _NotPlain(Exception):
    """The cells are unusual or wrong: the careful reader must read them."""


def _whole(text: str) -> int:
    if text.isdecimal() and text.isascii() and len(text) <= _PLAIN_DIGITS:
        return int(text)
    raise _NotPlain


def rows_of(path: Path, columns: list[str]) -> Iterator[Cells]:
    """Yields the lines of a file that has these columns."""
    return _read(path, columns, _look_closer, lambda cells: cells)


def _look_closer(cells: list[str]) -> Cells:
    raise _NotPlain


def _read(
    path: Path,
    columns: list[str],
    plain: Callable[[list[str]], Row],
    careful: Callable[[Cells], Row],
    *other_columns: list[str],
) -> Iterator[Row]:
    """Yields the rows of a CSV file with exactly these columns, or one of the other lists of them.

    `plain` converts a row quickly and raises _NotPlain if a cell is unusual. `careful` then
    converts the row, or throws BadInput with the place and the error of the cell.
    """
    line = 0
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, None)
            if header is not None and header in other_columns:
                columns = header
            if header != columns:
                raise BadInput(
                    f"{path}:1: the header is '{','.join(header or [])[:120]}'; "
                    f"expected '{','.join(columns)}'"
                )
            line = reader.line_num
            for cells in reader:
                line = reader.line_num
                if len(cells) != len(columns):
                    raise BadInput(
                        f"{path}:{line}: {len(cells)} cells; expected {len(columns)} "
                        f"({','.join(columns)})"
                    )
                try:
                    row = plain(cells)
                except _NotPlain:
                    row = careful(Cells(f"{path}:{line}", columns, cells))
                yield row
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except csv.Error as error:
        raise BadInput(f"{path}:{line + 1}: {error}; expected comma-separated values") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 after line {line}; expected UTF-8 text") from error


def read_chain_rows(path: Path) -> Iterator[ChainRow]:
    return _read(path, CHAIN_COLUMNS, _plain_chain, _chain, HOST_CHAIN_COLUMNS)


def _plain_chain(cells: list[str]) -> ChainRow:
    chain, instance, release, completion, response, status, stall, *error = cells
    begin = _whole(release)
    if status in FINISHED:
        end, took = _whole(completion), _whole(response)
        if took != end - begin or took < 0:
            raise _NotPlain
        within = _whole(error[0]) if error else 0
        return ChainRow(chain, _whole(instance), begin, end, took, status, _whole(stall), within)
    if completion or response or status not in STATUSES:
        raise _NotPlain
    return ChainRow(chain, _whole(instance), begin, None, None, status, _whole(stall))


def _chain(cells: Cells) -> ChainRow:
    row = ChainRow(
        chain=cells.text("chain"),
        instance=cells.integer("instance"),
        release=cells.integer("release_ns"),
        completion=cells.optional("completion_ns"),
        response=cells.optional("response_ns"),
        status=cells.one_of("status", STATUSES),
        host_stall=cells.integer("host_stall_ns"),
        error=cells.optional("error_ns") or 0,
    )
    finished = row.status in FINISHED
    if finished != (row.completion is not None) or finished != (row.response is not None):
        raise BadInput(
            f"{cells.place}: status is '{row.status}'; expected completion_ns and response_ns "
            f"{'to be given' if finished else 'to be empty'}"
        )
    if row.completion is not None and row.response != row.completion - row.release:
        raise BadInput(
            f"{cells.place}: response_ns is {row.response}; expected completion_ns - "
            f"release_ns = {row.completion - row.release}"
        )
    cells.not_negative("instance", "host_stall_ns", "error_ns")
    cells.not_before("completion_ns", "release_ns", row.error)
    return row


def read_output_rows(path: Path, errors_ns: Mapping[str, int]) -> Iterator[OutputRow]:
    """Yields the rows of outputs.csv. `errors_ns`: by how much the times of a chain may be wrong,
    because the clocks of hosts are compared."""
    for cells in rows_of(path, OUTPUT_COLUMNS):
        row = OutputRow(
            cells.text("chain"),
            cells.integer("end_ns"),
            cells.integer("age_ns"),
            cells.optional("reaction_ns"),
        )
        if row.age != row.end - cells.integer("release_ns"):
            raise BadInput(f"{cells.place}: age_ns is {row.age}; expected end_ns - release_ns")
        error_ns = errors_ns.get(row.chain, 0)
        cells.not_before("end_ns", "release_ns", error_ns)
        if row.reaction is not None and row.reaction < -error_ns:
            raise BadInput(f"{cells.place}: reaction_ns is {row.reaction}; expected 0 or more")
        yield row


def read_instance_rows(path: Path) -> Iterator[InstanceRow]:
    return _read(path, INSTANCE_COLUMNS, _plain_instance, _instance, *OTHER_INSTANCE_COLUMNS)


def _plain_instance(cells: list[str]) -> InstanceRow:
    number, callback, priority, thread, *times = cells[:9]
    preemptions, outcome, tokens, *more = cells[9:]
    cpus = parse_cpus(more[0]) if more else ()
    error = _whole(more[1]) if len(more) > 1 else 0
    if outcome not in OUTCOMES or cpus is None:
        raise _NotPlain
    release, ready, start, end, cpu = map(_whole, times)
    if not ready <= start <= end >= release:
        raise _NotPlain
    return InstanceRow(
        _whole(number), callback, _whole(priority), thread, release, ready, start, end, cpu,
        _whole(preemptions), outcome, tokens, cpus, error,
    )  # fmt: skip


def _instance(cells: Cells) -> InstanceRow:
    cells.not_negative("id", "cpu_ns", "preemptions", "error_ns")
    row = InstanceRow(
        id=cells.integer("id"),
        callback=cells.text("callback"),
        priority=cells.integer("priority"),
        thread=cells.text("thread"),
        release=cells.integer("release_ns"),
        ready=cells.integer("ready_ns"),
        start=cells.integer("start_ns"),
        end=cells.integer("end_ns"),
        cpu=cells.integer("cpu_ns"),
        preemptions=cells.integer("preemptions"),
        outcome=cells.one_of("outcome", OUTCOMES),
        tokens=cells.text("tokens"),
        cpus=cells.cpus("cpus"),
        error=cells.optional("error_ns") or 0,
    )
    # The release and the ready time may come from another host, with an error of its own.
    across = 2 * row.error
    cells.not_before("start_ns", "ready_ns", across)
    cells.not_before("end_ns", "start_ns", 0)
    cells.not_before("end_ns", "release_ns", across)
    return row


def read_stall_rows(path: Path) -> Iterator[StallRow]:
    for cells in rows_of(path, STALL_COLUMNS):
        row = StallRow(
            cpu=cells.integer("cpu"),
            start=cells.integer("start_ns"),
            end=cells.integer("end_ns"),
            waited=cells.integer("waited_ns"),
        )
        if row.end < row.start:
            raise BadInput(f"{cells.place}: end_ns is {row.end}; expected at least start_ns")
        cells.not_negative("waited_ns")
        yield row
