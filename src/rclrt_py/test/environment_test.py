# SPDX-License-Identifier: Apache-2.0
"""The host and the domain in which a measured application communicates."""

from __future__ import annotations

from rclrt_py.processes.runner import run_environment


def test_a_run_stays_on_this_host_in_a_domain_of_its_own() -> None:
    environment = run_environment({"HOME": "/somewhere"}, 1000)
    assert environment == {
        "HOME": "/somewhere",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_DOMAIN_ID": "92",  # 1 + 1000 mod 101
    }


def test_domains_are_from_1_to_101() -> None:
    domains = {int(run_environment({}, process)["ROS_DOMAIN_ID"]) for process in range(5000)}
    assert domains == set(range(1, 102))


def test_what_the_user_has_set_stays() -> None:
    chosen = {"ROS_DOMAIN_ID": "7", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    assert run_environment(chosen, 1000) == chosen
