# SPDX-License-Identifier: Apache-2.0
"""Configurations of callback_isolated_executor, and what becomes of them."""

from __future__ import annotations

import pytest
from rclrt_py.errors import BadInput
from rclrt_py.robots.cie import read_cie
from rclrt_py.robots.from_cie import Converted, robot_from_cie

# Every section and key of the format: cie_thread_configurator of 2026.
PARAMETERS = "@".join(
    f"Service(/front/camera/{each})"
    for each in ("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters",
                 "set_parameters", "set_parameters_atomically")
)  # fmt: skip
CURRENT = f"""\
hardware_info:
  cpu_family: 6
  cpu_max_mhz: 3900.0000
  model_name: Some(R) CPU @ 2.40GHz
callback_groups:
  - id: /front/camera@{PARAMETERS}@Subscription(/parameter_events)
    affinity: ~
    policy: SCHED_OTHER
    nice: 0
  - id: /front/camera@Subscription(/front/image)
    policy: SCHED_FIFO
    priority: 90
    affinity: [1, 0]
  - id: /front/camera@Timer(33333333)
    policy: SCHED_FIFO
    priority: 80
    affinity:
      - 0
      - 1
non_ros_threads:
  - id: frame_grabber
    policy: SCHED_FIFO
    priority: 95
    affinity: [1]
"""
# As the first releases wrote it: the nice value is `priority`, ids end in `@Waitable`.
EARLY = """\
callback_groups:
  - id: /plan@Client(/map/get)@Timer(100000000)@Waitable@Waitable
    affinity: ~
    policy: SCHED_RR
    priority: 40
  - id: /log@Subscription(/rosout)@Waitable
    affinity: ~
    policy: SCHED_BATCH
    priority: -5
non_ros_threads:
"""
# agnocast_cie_thread_configurator: domains, throttling, `name` of a thread, SCHED_DEADLINE.
AGNOCAST = """\
rt_throttling: {runtime_us: 950000, period_us: 1000000}
callback_groups:
  - {id: /fuse@Subscription(/points), domain_id: 3, affinity: [2], policy: SCHED_DEADLINE,
     runtime: 5000000, deadline: 40000000, period: 50000000}
  - {id: /fuse@Timer(1000001), domain_id: 3, affinity: ~, policy: SCHED_DEADLINE,
     runtime: 100000, deadline: 1000000, period: 1000001}
  - {id: /fuse@Subscription(/pose), domain_id: 4, affinity: ~, policy: SCHED_FIFO, priority: 7}
non_ros_threads:
  - {name: "spin [*]", policy: SCHED_DEADLINE, runtime: 1024, deadline: 2048, period: 4096,
     affinity: [0]}
  - {name: middleware, policy: SCHED_OTHER, priority: 5}
"""


def converted(text: str, domain: int | None = None, **processes: list[str]) -> Converted:
    return robot_from_cie(read_cie(text.encode(), "cie.yaml"), processes, domain)


def settings(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if not line.lstrip().startswith("#")]


def problems(text: str) -> list[str]:
    with pytest.raises(BadInput) as error:
        converted(text)
    return str(error.value).splitlines()


def one_group(*lines: str) -> str:
    return "callback_groups:\n  - " + "\n    ".join(lines) + "\n"
