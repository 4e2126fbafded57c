# SPDX-License-Identifier: Apache-2.0
"""The subject of each exercise, the slice that shows it, and the workshop's published figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from rclrt_py.errors import BadInput, did_you_mean

BASELINE, SOLUTION = "baseline", "solution"
VARIANTS = (BASELINE, SOLUTION)
RCLRT, RCLCPP = "rclrt", "rclcpp"
CLIENTS = (RCLRT, RCLCPP)
"""The client libraries that the nodes of an exercise may be on."""
LOOP_US = 1000.0
"""The period of the loops of exercises 1 and 2."""
DEADLINE_US = 17_000.0
"""The workshop's deadline from an image to the end of the actuation."""
IMAGE_US = 1e6 / 30
"""The period of the camera."""


class Measure(Enum):
    """The figure of a slice by which flaw and fix are compared; less is better."""

    MAX = "the largest"
    MEAN = "the mean"
    SPREAD = "the spread of"
    """The largest minus the smallest."""


@dataclass(frozen=True)
class Published:
    """The workshop's figures in microseconds, as far as they were published."""

    min_us: float | None = None
    mean_us: float | None = None
    max_us: float | None = None


@dataclass(frozen=True)
class OnRclcpp:
    """The differences if the nodes are on rclcpp."""

    flaw: str
    fix: str
    look: str | None = None
    """None: as on rclrt."""


@dataclass(frozen=True)
class Exercise:
    """One exercise. The program of the package that runs it is `program`."""

    name: str
    title: str
    flaw: str
    fix: str
    slice_name: str
    measure: Measure
    look: str
    """Why the figures differ when they do, as the end of a sentence."""
    published: Mapping[str, Published] = field(default_factory=dict)
    limit_us: float | None = None
    """The largest permitted value; None: no limit."""
    limit_name: str = ""
    needs_realtime: bool = True
    needs_stress: bool = True
    """Whether the flaw shows only while other load uses the CPUs."""
    on_rclcpp: OnRclcpp | None = None
    """None: it has no nodes, or they are not its subject."""
    client: str = RCLRT

    @property
    def program(self) -> str:
        return self.full_name("exercise_" + self.name).replace("-", "_")

    def full_name(self, start: str) -> str:
        """`start`, followed by the client library if that is not ours."""
        return start if self.client == RCLRT else f"{start}-{self.client}"

    def on_client(self, client: str) -> Exercise:
        """Throws BadInput if it has no program on that client library."""
        if client == self.client:
            return self
        if self.on_rclcpp is None:
            names = ", ".join(each.name for each in EXERCISES if each.on_rclcpp)
            raise BadInput(
                f"--client {client}: exercise {self.name} is about threads, not executors, and is "
                f"offered on {self.client} only; leave out --client, or run one of: {names}"
            )
        return replace(
            self,
            client=client,
            title=f"{self.title}, on {client}",
            flaw=self.on_rclcpp.flaw,
            fix=self.on_rclcpp.fix,
            look=self.on_rclcpp.look or self.look,
        )

    @property
    def has_pendulum(self) -> bool:
        return self.name.startswith("2-")

    def variant_label(self, variant: str) -> str:
        return self.fix if variant == SOLUTION else self.flaw


EXERCISES = (
    Exercise(
        "1",
        "the wake-up latency of a thread",
        "SCHED_OTHER",
        "SCHED_FIFO 80",
        "Wakeup",
        Measure.MAX,
        "the thread under SCHED_OTHER waits for its turn among the busy processes, the one under "
        "SCHED_FIFO does not",
        {BASELINE: Published(max_us=1100), SOLUTION: Published(max_us=31)},
        LOOP_US,
        "the loop's period",
    ),
    Exercise(
        "2-1",
        "one number for a real-time thread",
        "std::mutex",
        "std::atomic<double>",
        "GetDesiredPosition",
        Measure.MAX,
        "the control loop waits for a lock while the lock's holder does not get a CPU; an atomic "
        "in place of the lock makes no thread wait",
        {BASELINE: Published(max_us=4997), SOLUTION: Published(max_us=6)},
        LOOP_US,
        "the loop's period",
    ),
    Exercise(
        "2-2",
        "a struct for a real-time thread",
        "std::mutex",
        "priority-inheritance mutex",
        "GetPIDConstants",
        Measure.MAX,
        "the holder of the priority-inheritance mutex gets the control loop's priority, and with "
        "it a CPU, until it unlocks",
        {BASELINE: Published(max_us=15_269), SOLUTION: Published(max_us=287)},
        LOOP_US,
        "the loop's period",
    ),
    Exercise(
        "2-3",
        "a queue from a real-time thread",
        "std::queue and std::mutex",
        "single-producer single-consumer queue",
        "UpdateQueue",
        Measure.MAX,
        "the control loop waits while the other side works under the lock; the queue without a "
        "lock makes it wait for nothing",
        {BASELINE: Published(max_us=3410), SOLUTION: Published(max_us=5)},
        LOOP_US,
        "the loop's period",
    ),
    Exercise(
        "3-1",
        "the order of callbacks in one executor",
        "one thread, in the order of creation",
        "executor with priorities",
        "EndToEndDelay",
        Measure.MEAN,
        "the data logger was created first, so each image passes it before the detector, unless "
        "the detector has the higher priority",
        {},
        DEADLINE_US,
        "the deadline",
        needs_stress=False,
        on_rclcpp=OnRclcpp(
            "SingleThreadedExecutor",
            "PreemptiveExecutor of rclrt_rclcpp",
            "one thread runs all callbacks in an order that says nothing of their urgency, so the "
            "way from the image to the actuation leads past the data logger; a priority above the "
            "data logger's interrupts it",
        ),
    ),
    Exercise(
        "3-2",
        "callbacks on a busy machine",
        "two threads without priorities",
        "executor with priorities",
        "EndToEndDelay",
        Measure.MEAN,
        "two threads share the CPU with the data logger and whatever else runs, a priority comes "
        "before both",
        {SOLUTION: Published(4170, 4400, 5870)},
        DEADLINE_US,
        "the deadline",
        needs_stress=False,
        on_rclcpp=OnRclcpp(
            "MultiThreadedExecutor, two threads", "PreemptiveExecutor of rclrt_rclcpp"
        ),
    ),
    Exercise(
        "4-1",
        "a timer beside long callbacks",
        "camera in the common executor",
        "camera in an executor at SCHED_FIFO 90",
        "period",
        Measure.SPREAD,
        "in the common executor the camera's timer waits for the data logger, in its own it does "
        "not",
        {
            BASELINE: Published(min_us=24_600, max_us=39_300),
            SOLUTION: Published(min_us=33_200, max_us=33_440),
        },
        needs_stress=False,
        on_rclcpp=OnRclcpp(
            "camera in the common SingleThreadedExecutor",
            "camera in a PreemptiveExecutor at SCHED_FIFO 90",
        ),
    ),
    Exercise(
        "4-2",
        "a chain beside long callbacks",
        "one executor",
        "detector's group at SCHED_FIFO 60",
        "EndToEndDelay",
        Measure.MEAN,
        "the detector's group preempts the data logger instead of waiting for it",
        {
            BASELINE: Published(min_us=9300, max_us=14_900),
            SOLUTION: Published(min_us=3120, max_us=3880),
        },
        DEADLINE_US,
        "the deadline",
        needs_stress=False,
        on_rclcpp=OnRclcpp(
            "one SingleThreadedExecutor", "detector's group at SCHED_FIFO 60, on rclrt_rclcpp"
        ),
    ),
)


def find_exercise(name: str) -> Exercise:
    """Throws BadInput if there is none of this name."""
    for exercise in EXERCISES:
        if exercise.name == name:
            return exercise
    names = [exercise.name for exercise in EXERCISES]
    raise BadInput(
        f"exercise '{name}' is unknown{did_you_mean(name, names)}\n"
        f"  expected one of: {', '.join(names)}; `rclrt exercise list` says what each is about"
    )
