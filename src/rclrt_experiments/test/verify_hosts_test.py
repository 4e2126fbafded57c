# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify --hosts`: executors on several hosts, with links between them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rclrt_experiments.generator.application import draw_application
from rclrt_experiments.generator.feasibility import load
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.verification.verify import Attack, attack_seed, on_hosts, varied
from rclrt_py.native import analysis, model
from rclrt_py.testing.command import finished


def test_applications_on_several_hosts_are_drawn_and_attacked() -> None:
    proved = crossing = 0
    for seed in range(8):
        rules = on_hosts(varied(replace(Rules(), random_seed=seed)), 2)
        application = load(draw_application(rules), {})
        assert [host.name for host in application.hosts] == ["host0", "host1"]
        assert len(application.links) == 1
        crossing += len(model().link_messages(application))
        outcomes = attack_seed(
            Rules(), seed, ["preemptive", "wait_set"], Attack(instances=2000), True, hosts=2
        )
        for outcome in (outcomes or {}).values():
            assert outcome.violation is None
            assert outcome.difference == ""
            proved += outcome.proved
    assert crossing > 10
    assert proved > 5


def test_a_bound_without_the_link_is_exceeded() -> None:
    """The attack finds what a bound leaves out: here, the time on the links."""

    def without_links(application, executor, machine):  # type: ignore[no-untyped-def]
        judgement = analysis().judge(application, executor, machine)

        class Wrong:
            def __init__(self, chain) -> None:  # type: ignore[no-untyped-def]
                on_links = sum(each.total_ns for each in chain.why if each.kind == "link")
                bound = chain.bound_ns
                self.bound_ns = None if bound is None else bound - on_links
                self.assumptions = chain.assumptions
                self.verdict = "proved" if bound is not None else "unknown"
                self.why = chain.why

        class Judgement:
            chains = tuple(Wrong(chain) for chain in judgement.chains)
            cause_effect_chains = judgement.cause_effect_chains

        return Judgement()

    attack = Attack(instances=2000, on_machines=False, judge=without_links)
    found = [
        outcome.violation
        for seed in range(12)
        for outcome in (
            attack_seed(Rules(), seed, ["preemptive"], attack, True, hosts=2) or {}
        ).values()
    ]
    assert any(each is not None for each in found)


def test_links_do_not_change_an_application_on_one_host() -> None:
    rules = replace(Rules(), max_message_bytes=100, random_seed=3)
    application = load(draw_application(rules), {})
    assert application.hosts == ()
    assert application.links == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--hosts", "5"], "--hosts: '5' is no number of several hosts; expected 2 to 4"),
        (["--hosts", "2", "--run", "1"], "--hosts: expected no rules (host_count) and no --run"),
    ],
)
def test_options_that_contradict_hosts_are_refused(options: list[str], said: str) -> None:
    result = finished("verify", "--count", "1", *options)
    assert result.returncode == 2
    assert said in result.stderr
