# SPDX-License-Identifier: Apache-2.0
"""The rules for a generated application: table 6.1 of the thesis, and more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any, NoReturn

from rclrt_py.errors import BadInput, did_you_mean
from rclrt_py.executors import EXECUTORS
from rclrt_py.files.json_reader import JsonValue

US_PER_HOUR = 3_600_000_000
UTILISATIONS = ("uunifast", "randfixedsum")
PERIODS = ("uniform", "log_uniform", "list")
PRIORITIES = ("rate_monotonic", "chain_0")
OFFSETS = ("unstated", "zero", "random")
POLICIES = ("approximate", "exact")
LIMITS = ("sampled", "all")
FEASIBILITIES = ("none", "utilisation", "proved")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Rules:
    """The rules by which an application is generated. Times are in microseconds. The first
    seventeen rules are those of the thesis's tool."""

    name: str = "generated"
    chain_count: int = 5
    chain_avg_len: Decimal = Decimal(5)
    chain_merge_p: float = 0.0
    chain_sync_p: float = 0.0
    chain_variance: Decimal = Decimal(0)
    """The standard deviation of a chain's length, as a part of the average."""
    util_total: Decimal = Decimal("0.5")
    min_period_us: int = 20_000
    max_period_us: int = 1_000_000
    period_step_us: int = 10_000
    hyperperiod_count: int = 0
    """Number of hyperperiods to run. 0: run for max_duration_us."""
    max_duration_us: int = 30_000_000
    ppe: bool = True
    """Whether the executor preempts. This is only copied into the chain file."""
    executor_count: int = 1
    random_seed: int = 0
    logging_mode: int = 0
    use_priority_synthesis: bool = False

    utilisation: str = "uunifast"
    min_chain_utilisation: Decimal = Decimal(0)
    max_chain_utilisation: Decimal = Decimal(1)
    period_choice: str = "uniform"
    periods_us: tuple[int, ...] = ()
    period_weights: tuple[float, ...] = ()
    """Probability weight of each of periods_us. Empty: all are equally likely."""
    priorities: str = "rate_monotonic"
    fastest_first: bool = False
    """Whether chain 0 has the shortest period."""
    offsets: str = "unstated"
    min_deadline: Decimal = Decimal(1)
    """Shortest deadline of a chain, as a part of its period. It is uniform up to max_deadline."""
    max_deadline: Decimal = Decimal(1)
    sync_inputs: int = 2
    """Largest number of inputs of a sync."""
    sync_policy: str = "approximate"
    sync_window_us: int = 1_000_000
    sync_share_period: bool = True
    """Whether chains that meet in a sync have one period; if not, the faster one loses messages."""
    event_p: float = 0.0
    """Probability that an event from outside the executors starts a chain, instead of a timer."""
    max_event_interval: Decimal = Decimal(1)
    """The longest interval of an event, as a multiple of its shortest, the chain's period."""
    event_jitter: Decimal = Decimal(0)
    """Jitter of the events, as a multiple of the chain's period, in place of intervals. From 1 on
    they come in bursts, a tenth of the period apart. 0: no jitter."""
    service_p: float = 0.0
    """Probability that a callback within a chain is a server, which the one before it calls."""
    sample_p: float = 0.0
    """Probability that a link of a chain is sampled: the callback before it stores a variable, and
    the one behind it, or one further on, reads that when a timer runs."""
    topic_p: float = 0.0
    """Probability that a sampled link is the newest message of a topic, in place of a variable."""
    sample_share_period: bool = False
    """Whether the parts of a sampled chain have one period."""
    let_p: float = 0.0
    """Probability that a part of a sampled chain has logical execution time: it reads at its
    release, and what it stores counts from its deadline."""
    wait_p: float = 0.0
    """Probability that a callback waits without using the CPU (waits_ms)."""
    max_wait: Decimal = Decimal("0.2")
    """The longest time for which it does, as a part of the chain's period."""
    limits: str = "sampled"
    """Which chains have limits of their reaction time and data age: those that are sampled, or
    all."""
    group_p: float = 0.0
    """Probability that a callback is in the group of its node."""
    min_message_bytes: int = 0
    max_message_bytes: int = 0
    cpus: tuple[int, ...] = (0,)
    """CPUs of the executors, in turn. Empty: all CPUs."""
    cpus_per_executor: int = 1
    """Number of CPUs that each executor gets, from its own one in `cpus` on."""
    scheduler_cpus: tuple[int, ...] = ()
    """CPUs of the scheduler threads of all executors. Empty: those of their executor."""
    host_count: int = 1
    """Number of hosts, over which the processes are spread, with a link between every two. 1: the
    application states no host."""
    executor: str = "preemptive"
    """The kind of executor for which feasibility is checked."""
    feasibility: str = "utilisation"

    @property
    def grid(self) -> tuple[int, int]:
        """Returns the first and last multiple of period_step_us that a period may be."""
        step = self.period_step_us
        return -(-self.min_period_us // step), self.max_period_us // step

    @property
    def shortest_path(self) -> int:
        """Returns the least number of segments of a chain with limits of its reaction time and its
        data age."""
        return 1 if self.limits == "all" else 2


_AUTOMOTIVE = {1: 3, 2: 2, 5: 2, 10: 25, 20: 25, 50: 3, 100: 20, 200: 1, 1000: 4}
"""Periods in ms and their percentage: S. Kramer, D. Ziegenbein and A. Hamann, "Real world
automotive benchmarks for free", WATERS 2015, without the angle-synchronous tasks."""

PRESETS: Mapping[str, Rules] = {
    "default": Rules(),
    # Table 7.1 of the thesis.
    "sanding_robot": Rules(
        name="sanding_robot", executor_count=7, chain_count=6, chain_avg_len=Decimal(3),
        min_period_us=500_000, max_period_us=500_000, period_step_us=500_000,
    ),
    "drone": Rules(
        name="drone", executor_count=2, chain_count=2, chain_avg_len=Decimal(3),
        min_period_us=100_000, max_period_us=100_000, period_step_us=100_000,
    ),
    "f1tenth": Rules(
        name="f1tenth", executor_count=5, chain_count=1, chain_avg_len=Decimal(4),
        min_period_us=50_000, max_period_us=50_000, period_step_us=50_000,
    ),
    "automotive": Rules(
        name="automotive", chain_count=10, chain_avg_len=Decimal(4), period_choice="list",
        periods_us=tuple(ms * 1000 for ms in _AUTOMOTIVE),
        period_weights=tuple(float(share) for share in _AUTOMOTIVE.values()),
    ),
}  # fmt: skip


def read_rules(document: JsonValue, base: Rules) -> Rules:
    """Reads rules from a JSON object; rules that it does not have are those of `base`. Keys may be
    in upper or lower case. Throws BadInput with the place for a key that is no rule or a value that
    is not allowed."""
    known = {field.name for field in fields(Rules)} | {"directory", "preset", "executor_type"}
    spelt: dict[str, str] = {}
    for key in document.object():
        name = key.lower()
        if name not in known:
            raise BadInput(f"{document.file}: {key!a} is no rule{did_you_mean(name, known)}")
        if name in spelt:
            raise BadInput(
                f"{document.file}: {key!a} and {spelt[name]!a} are the same rule; state it once"
            )
        spelt[name] = key
    if "preset" in spelt:
        base = preset(document.get(spelt["preset"]))
    values = {
        field.name: _READERS[str(field.type)](document.get(spelt[field.name]))
        for field in fields(Rules)
        if field.name in spelt
    }
    if "executor_type" in spelt:
        number = document.get(spelt["executor_type"])
        kinds = dict(enumerate(("wait_set", "producer_consumer", *["thread_dispatch"] * 2)))
        if number.integer() not in kinds:
            number.fail("0 (wait_set), 1 (producer_consumer) or 3 (thread_dispatch)")
        values.setdefault("executor", kinds[number.integer()])
    rules = replace(base, **values)
    _check(rules, document, spelt)
    return rules


def preset(value: JsonValue) -> Rules:
    """Returns the preset of that name. Throws BadInput if there is none."""
    if value.text() not in PRESETS:
        value.fail(f"one of {', '.join(PRESETS)}{did_you_mean(value.text(), PRESETS)}")
    return PRESETS[value.text()]


def _decimal(value: JsonValue) -> Decimal:
    return Decimal(repr(value.number()))


_READERS: dict[str, Callable[[JsonValue], Any]] = {
    "str": JsonValue.text,
    "int": JsonValue.integer,
    "float": JsonValue.number,
    "bool": JsonValue.boolean,
    "Decimal": _decimal,
    "tuple[int, ...]": lambda value: tuple(item.integer() for item in value.items()),
    "tuple[float, ...]": lambda value: tuple(item.number() for item in value.items()),
}

_RANGES: dict[str, tuple[float | Decimal, int]] = {
    "chain_count": (1, 1000),
    "chain_avg_len": (1, 1000),
    "chain_merge_p": (0, 1),
    "chain_sync_p": (0, 1),
    "chain_variance": (0, 10),
    "util_total": (0, 1000),
    "min_period_us": (1, US_PER_HOUR),
    "max_period_us": (1, US_PER_HOUR),
    "period_step_us": (1, US_PER_HOUR),
    "hyperperiod_count": (0, 1_000_000_000),
    "max_duration_us": (1, 365 * 24 * US_PER_HOUR),
    "executor_count": (1, 100),
    "cpus_per_executor": (1, 1024),
    "host_count": (1, 16),
    "random_seed": (-(2**63), 2**63 - 1),
    "logging_mode": (0, 2),
    "min_chain_utilisation": (0, 1),
    "max_chain_utilisation": (0, 1),
    "min_deadline": (Decimal("0.001"), 1000),
    "max_deadline": (Decimal("0.001"), 1000),
    "sync_inputs": (2, 9),
    "sync_window_us": (1, US_PER_HOUR),
    "event_p": (0, 1),
    "max_event_interval": (1, 1000),
    "event_jitter": (0, 100),
    "service_p": (0, 1),
    "sample_p": (0, 1),
    "topic_p": (0, 1),
    "let_p": (0, 1),
    "wait_p": (0, 1),
    "max_wait": (0, 1000),
    "group_p": (0, 1),
    "min_message_bytes": (0, 16 * 1024 * 1024),
    "max_message_bytes": (0, 16 * 1024 * 1024),
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "utilisation": UTILISATIONS,
    "period_choice": PERIODS,
    "priorities": PRIORITIES,
    "offsets": OFFSETS,
    "sync_policy": POLICIES,
    "executor": EXECUTORS,
    "limits": LIMITS,
    "feasibility": FEASIBILITIES,
}


def _check(rules: Rules, document: JsonValue, spelt: Mapping[str, str]) -> None:
    """Checks that every value is in its range, and that related values match."""

    def fail(name: str, expected: str) -> NoReturn:
        if name in spelt:
            document.get(spelt[name]).fail(expected)
        raise BadInput(f"{document.file}: {name} is missing; expected {expected}")

    for name, (low, high) in _RANGES.items():
        if not low <= getattr(rules, name) <= high:
            fail(name, f"a number from {low} to {high}")
    for name, choices in _CHOICES.items():
        if (value := getattr(rules, name)) not in choices:
            fail(name, f"one of {', '.join(choices)}{did_you_mean(value, choices)}")
    if not _NAME.fullmatch(rules.name) or len(rules.name) > 100:
        fail("name", "up to 100 letters, digits and single _, beginning with a letter")
    if rules.chain_count * rules.chain_avg_len > 10_000:
        fail("chain_avg_len", "at most 10000 callbacks in all")
    if rules.util_total <= 0:
        fail("util_total", "more than 0")
    for low_name in ("min_period_us", "min_chain_utilisation", "min_deadline", "min_message_bytes"):
        high_name = low_name.replace("min_", "max_")
        if getattr(rules, low_name) > getattr(rules, high_name):
            name = high_name if high_name in spelt else low_name
            fail(name, f"{low_name} to be at most {high_name}")
    _check_periods(rules, fail)
    _check_shares(rules, fail)
    for name in ("cpus", "scheduler_cpus"):
        numbers = getattr(rules, name)
        if any(not 0 <= cpu < 1024 for cpu in numbers) or len(set(numbers)) != len(numbers):
            fail(name, "numbers of CPUs, each once")
    if rules.cpus_per_executor > max(1, len(rules.cpus)):
        fail("cpus_per_executor", f"at most {max(1, len(rules.cpus))}, the number of `cpus`")


def _check_periods(rules: Rules, fail: Callable[[str, str], NoReturn]) -> None:
    if rules.period_choice == "list":
        if not rules.periods_us or not all(0 < each <= US_PER_HOUR for each in rules.periods_us):
            fail("periods_us", f"a list of periods from 1 to {US_PER_HOUR}")
        weights = rules.period_weights
        if weights and len(weights) != len(rules.periods_us):
            fail("period_weights", f"{len(rules.periods_us)} weights, one for each of periods_us")
        if weights and (min(weights) < 0 or max(weights) <= 0):
            fail("period_weights", "weights of at least 0, and one above")
        return
    first, last = rules.grid
    if first > last:
        fail(
            "period_step_us",
            f"a step of which a multiple is from {rules.min_period_us} to {rules.max_period_us}",
        )


def _check_shares(rules: Rules, fail: Callable[[str, str], NoReturn]) -> None:
    """Checks that there are utilisations of the chains that sum up to the total."""
    low = rules.chain_count * rules.min_chain_utilisation
    high = rules.chain_count * rules.max_chain_utilisation
    if not low <= rules.util_total <= high:
        fail(
            "util_total",
            f"{low} to {high}, what {rules.chain_count} chains of {rules.min_chain_utilisation} to "
            f"{rules.max_chain_utilisation} each make up",
        )
