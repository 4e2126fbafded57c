# SPDX-License-Identifier: Apache-2.0
"""Sampled links in generated applications: the rules `sample_p` and `let_p`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import (
    GeneratedApplication,
    draw_application,
)
from rclrt_experiments.generator.feasibility import feasible_priorities
from rclrt_experiments.generator.graph import Kind
from rclrt_experiments.generator.package import package_files
from rclrt_experiments.generator.pictures import application_picture
from rclrt_experiments.generator.rules import LIMITS, Rules
from rclrt_experiments.generator.timing import ChainTime, Infeasible
from rclrt_experiments.verification.shrink import smaller_ones
from rclrt_py.errors import BadInput
from rclrt_py.native import load_application

import rclrt_model

RULES = Rules(
    chain_count=4, chain_avg_len=Decimal(6), chain_variance=Decimal("0.3"), chain_merge_p=0.005,
    chain_sync_p=0.1, executor_count=3, cpus=(0, 1), offsets="random", group_p=0.2, event_p=0.3,
    max_event_interval=Decimal(2), service_p=0.3, sample_p=0.3, let_p=0.5,
)  # fmt: skip


def applications(rules: Rules, count: int) -> Iterator[GeneratedApplication]:
    return (draw_application(replace(rules, random_seed=seed)) for seed in range(count))


def load(
    path: pytest.TempPathFactory, application: GeneratedApplication
) -> rclrt_model.Application:
    file = path.mktemp("app") / "app.yaml"
    file.write_text(app_yaml(application))
    return load_application(file)


@pytest.mark.parametrize("limits", LIMITS)
def test_the_model_has_the_segments_and_readers_that_were_drawn(
    tmp_path_factory: pytest.TempPathFactory, limits: str
) -> None:
    segments = later = single = 0
    for application in applications(replace(RULES, limits=limits), 25):
        model = load(tmp_path_factory, application)
        assert len(model.cause_effect_chains) == len(application.paths)
        for chain, path in zip(model.cause_effect_chains, application.paths, strict=True):
            found = [
                (each.chain, model.callbacks[model.chains[each.chain].callbacks[each.entry]].id)
                for each in chain.segments
            ]
            assert found == [(each.chain, application.id_of(each.reader)) for each in path]
            segments += len(found)
            later += sum(each.entry > 0 for each in chain.segments)
            single += len(found) == 1
        assert model.utilisation() == pytest.approx(float(application.load()), abs=1e-9)
    assert segments > 100
    assert later > 5
    assert (single > 5) == (limits == "all")


def test_sampled_links_may_be_newest_messages(tmp_path_factory: pytest.TempPathFactory) -> None:
    by_topic = by_variable = apart = 0
    for application in applications(replace(RULES, topic_p=0.5), 25):
        model = load(tmp_path_factory, application)
        assert len(model.cause_effect_chains) == len(application.paths)
        for chain in model.cause_effect_chains:
            for last, following in pairwise(chain.segments):
                writer = model.chains[last.chain].callbacks[-1]
                reader = model.chains[following.chain].callbacks[following.entry]
                published = set(model.callbacks[writer].publishes)
                if published & set(model.callbacks[reader].samples):
                    by_topic += 1
                    apart += process_of(model, writer) != process_of(model, reader)
                else:
                    by_variable += 1
                    assert set(model.callbacks[writer].stores) & set(model.callbacks[reader].reads)
                    assert process_of(model, writer) == process_of(model, reader)
    assert by_topic > 30
    assert by_variable > 30
    assert apart > 5


def process_of(model: rclrt_model.Application, callback: int) -> str:
    return model.executors[model.executor_of(callback)].process


def test_each_drawn_chain_has_limits_if_the_rules_say_so(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rules = replace(RULES, limits="all", sample_p=0.0, max_deadline=Decimal(2))
    for application in applications(rules, 5):
        model = load(tmp_path_factory, application)
        assert [chain.id for chain in model.cause_effect_chains] == [f"chain{n}" for n in range(4)]
        for chain, limited in zip(model.chains, model.cause_effect_chains, strict=True):
            wait = longest_interval(root := model.callbacks[chain.callbacks[0]])
            assert limited.max_age_ns == chain.deadline_ns
            source = 0 if root.kind == "event" else wait
            assert limited.max_reaction_ns == chain.deadline_ns + source


def test_parts_may_share_the_period_of_their_chain() -> None:
    rules = replace(RULES, chain_merge_p=0.0, chain_sync_p=0.0, fastest_first=True)
    for application, own in zip(
        applications(replace(rules, sample_share_period=True), 20),
        applications(replace(rules, sample_p=0.0), 20),
        strict=True,
    ):
        assert application.times[0].period_us == min(time.period_us for time in own.times)
        for path in application.paths:
            periods = {application.times[each.chain].period_us for each in path}
            assert periods == {own.times[path[0].chain].period_us}


def test_a_chance_of_one_leaves_single_callbacks_and_of_zero_changes_nothing() -> None:
    rules = Rules(chain_count=2, chain_avg_len=Decimal(4), sample_p=1.0)
    for application in applications(rules, 5):
        assert sorted(application.graph.chains) == [[each] for each in range(8)]
        assert [len(path) for path in application.paths] == [4, 4]
        assert set(application.graph.kinds.values()) == {Kind.TIMER}
    for application in applications(replace(RULES, sample_p=0.0), 20):
        assert not application.paths
        assert not application.variables


def test_the_parts_of_a_chain_share_its_utilisation_and_only_their_periods_differ() -> None:
    rules = replace(RULES, chain_merge_p=0.0, chain_sync_p=0.0)
    periods = set()
    for application, without in zip(
        applications(rules, 30), applications(replace(rules, sample_p=0.0), 30), strict=True
    ):
        assert application.times[0].period_us == without.times[0].period_us
        assert sum(time.utilisation for time in application.times) == rules.util_total
        callbacks = [
            each
            for path in application.paths
            for segment in path
            for each in application.graph.chains[segment.chain]
        ]
        assert len(set(callbacks)) == len(callbacks)
        for path in application.paths:
            periods.add(len({application.times[each.chain].period_us for each in path}))
    assert max(periods) > 1


def test_the_model_has_the_drawn_logical_execution_times_and_all_else_stays(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    counts = {}
    for chance in (0.0, 0.5, 1.0):
        counts[chance] = 0
        for application, without in zip(
            applications(replace(RULES, let_p=chance), 10),
            applications(replace(RULES, let_p=0.0), 10),
            strict=True,
        ):
            model = load(tmp_path_factory, application)
            found = {number for number, chain in enumerate(model.chains) if chain.let}
            assert found == application.logical
            counts[chance] += len(found)
            assert app_yaml(application).replace(", let: true", "") == app_yaml(without)
    segments = sum(len(path) for app in applications(RULES, 10) for path in app.paths)
    assert counts[0.0] == 0 < 0.3 * segments < counts[0.5] < 0.7 * segments
    assert counts[1.0] == segments


def test_given_times_hold_for_all_parts_of_a_chain() -> None:
    given = [ChainTime.of(20_000, Decimal("0.2")), ChainTime.of(50_000, Decimal("0.3"))]
    rules = Rules(chain_count=2, chain_avg_len=Decimal(5), sample_p=0.5)
    application = draw_application(rules, given)
    for path in application.paths:
        own = given[path[0].chain]
        times = [application.times[each.chain] for each in path]
        assert {time.period_us for time in times} == {own.period_us}
        assert sum(time.utilisation for time in times) == own.utilisation


def longest_interval(root: rclrt_model.Callback) -> int:
    if isinstance(root.trigger, rclrt_model.Event):
        return root.trigger.max_interval_ns
    assert isinstance(root.trigger, rclrt_model.Timer)
    return root.trigger.period_ns


def test_the_limits_hold_if_each_segment_meets_its_deadline(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rules = replace(RULES, util_total=Decimal("0.3"), executor_count=1, cpus=(0,), chain_sync_p=0.0)
    for application in applications(rules, 10):
        model = load(tmp_path_factory, application)
        for chain in model.cause_effect_chains:
            roots = [model.callbacks[model.chains[s.chain].callbacks[0]] for s in chain.segments]
            waits = [longest_interval(root) for root in roots]
            total = sum(waits) + sum(model.chains[s.chain].deadline_ns for s in chain.segments)
            source = waits[0] if roots[0].kind == "event" else 0
            assert chain.max_reaction_ns == total - source
            assert chain.max_age_ns == total - waits[-1]


def test_a_variable_is_within_one_process(tmp_path_factory: pytest.TempPathFactory) -> None:
    joined = apart = 0
    for application in applications(replace(RULES, executor_count=6, sample_p=0.1), 25):
        model = load(tmp_path_factory, application)
        processes = [each.process for each in model.executors]
        joined += len(set(processes)) < len(processes)
        apart += len(set(processes)) > 1
        for variable in application.variables:
            ends = (application.places[variable.writer], application.places[variable.reader])
            assert len({application.processes[each.executor] for each in ends}) == 1
    assert joined > 5
    assert apart > 5


def test_variables_are_drawn_dotted() -> None:
    for application in applications(RULES, 5):
        edges = application_picture(application).source.splitlines()
        dotted = sum("style=dotted" in line for line in edges)
        assert dotted == len(application.variables)
        assert sum("->" in line for line in edges) == dotted + sum(
            len(list(pairwise(chain))) for chain in application.graph.chains
        )


@pytest.mark.parametrize("limits", LIMITS)
def test_smaller_applications_keep_the_paths_that_they_have_room_for(
    tmp_path_factory: pytest.TempPathFactory, limits: str
) -> None:
    shorter = ordinary = 0
    rules = replace(RULES, limits=limits)
    for application in applications(rules, 4):
        for smaller in smaller_ones(application):
            model = load(tmp_path_factory, smaller)
            for chain, path in zip(model.cause_effect_chains, smaller.paths, strict=True):
                assert [each.chain for each in chain.segments] == [each.chain for each in path]
            logical = {number for number, chain in enumerate(model.chains) if chain.let}
            assert logical == smaller.logical
            same_size = sum(map(len, smaller.paths)) == sum(map(len, application.paths))
            shorter += not same_size
            ordinary += same_size and len(logical) < len(application.logical)
    assert shorter > 10
    assert ordinary == sum(len(application.logical) for application in applications(rules, 4))


def test_a_package_of_an_application_with_variables_is_refused() -> None:
    application = next(app for app in applications(RULES, 10) if app.variables)
    with pytest.raises(BadInput, match="a package has no variables"):
        dict(package_files(application, {}, "rclcpp"))


def test_limits_that_are_not_proved_are_infeasible_if_the_rules_ask_for_proofs() -> None:
    rules = Rules(
        chain_count=1, chain_avg_len=Decimal(2), sample_p=1.0, util_total=Decimal("0.1"),
        feasibility="proved",
    )  # fmt: skip
    application = draw_application(rules)
    feasible_priorities(application)
    limits = replace(application.limits_ns[0], age=1)
    with pytest.raises(Infeasible, match="the limits of sampled0 are not proved under preemptive"):
        feasible_priorities(replace(application, limits_ns=[limits]))
