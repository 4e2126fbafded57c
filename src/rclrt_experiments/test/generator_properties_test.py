# SPDX-License-Identifier: Apache-2.0
"""The properties that every generated application has, under any rules and seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import networkx as nx
import pytest
from rclrt_experiments.generator.app_yaml import app_yaml, chain_file
from rclrt_experiments.generator.application import GeneratedApplication, draw_application
from rclrt_experiments.generator.draws import Draws
from rclrt_experiments.generator.graph import Kind, draw_merges
from rclrt_experiments.generator.rules import PRESETS, Rules
from rclrt_py.native import load_application

import rclrt_model

DENSE = Rules(chain_count=4, chain_merge_p=0.2, chain_sync_p=0.5, chain_variance=Decimal("0.3"))
WIDE = replace(DENSE, sync_inputs=5, executor_count=4, cpus=(0, 1), offsets="random", group_p=0.2)


def applications(rules: Rules, count: int) -> Iterator[GeneratedApplication]:
    return (draw_application(replace(rules, random_seed=seed)) for seed in range(count))


def load(
    path: pytest.TempPathFactory, application: GeneratedApplication
) -> rclrt_model.Application:
    file = path.mktemp("app") / "app.yaml"
    file.write_text(app_yaml(application))
    return load_application(file)


def test_the_same_seed_gives_the_same_bytes_on_every_machine() -> None:
    digest = hashlib.sha256()
    for rules in (DENSE, WIDE, *PRESETS.values()):
        for application in applications(rules, 10):
            digest.update(app_yaml(application).encode() + chain_file(application).encode())
    assert digest.hexdigest() == "3c6f9db7edad6e7b5f001b5f846ff33e4ac806cd126a996c391506de779b09e9"


@pytest.mark.parametrize("rules", [DENSE, WIDE, *PRESETS.values()], ids=lambda rules: rules.name)
def test_every_application_is_one_that_the_model_accepts(
    rules: Rules, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for application in applications(rules, 20):
        model = load(tmp_path_factory, application)
        assert [chain.priority for chain in model.chains] == application.priorities
        assert model.utilisation() == pytest.approx(float(application.load()), abs=1e-9)
        for chain, time in zip(model.chains, application.times, strict=True):
            assert model.period_ns(chain) == time.period_us * 1000


def test_each_chain_comes_by_its_own_topics(tmp_path_factory: pytest.TempPathFactory) -> None:
    for application in applications(WIDE, 50):
        model = load(tmp_path_factory, application)
        for number, chain in enumerate(model.chains):
            for hop, (callback, entries) in enumerate(
                zip(chain.callbacks[1:], model.entries(chain)[1:], strict=True)
            ):
                taken = {model.callbacks[callback].inputs[entry] for entry in entries}
                assert taken == {f"chain{number}_hop{hop}"}


@pytest.mark.parametrize("method", ["uunifast", "randfixedsum"])
def test_utilisations_sum_up_to_the_total_exactly(method: str) -> None:
    rules = replace(DENSE, chain_merge_p=0.0, chain_sync_p=0.0, utilisation=method)
    for application in applications(rules, 200):
        assert sum(time.utilisation for time in application.times) == rules.util_total
        assert all(0 <= time.utilisation <= 1 for time in application.times)
        # Execution times are whole nanoseconds, rounded down.
        lost = rules.util_total - application.load()
        assert 0 <= lost < Decimal(rules.chain_count) / (rules.min_period_us * 1000)


@pytest.mark.parametrize("choice", ["uniform", "log_uniform"])
def test_periods_are_in_range_and_on_their_grid(choice: str) -> None:
    rules = replace(
        DENSE, period_choice=choice, min_period_us=25_000, max_period_us=990_000,
        period_step_us=20_000,
    )  # fmt: skip
    periods = {time.period_us for app in applications(rules, 200) for time in app.times}
    assert min(periods) == 40_000
    assert max(periods) == 980_000
    assert all(period % 20_000 == 0 for period in periods)


def test_log_uniform_periods_are_as_many_in_each_octave() -> None:
    rules = replace(
        DENSE, chain_count=10, period_choice="log_uniform", min_period_us=1_000,
        max_period_us=1_024_000, period_step_us=1,
    )  # fmt: skip
    periods = [time.period_us for app in applications(rules, 200) for time in app.times]
    below = sum(period < 32_000 for period in periods)  # five of ten octaves
    assert below / len(periods) == pytest.approx(0.5, abs=0.05)


def test_the_mean_length_is_near_the_average() -> None:
    rules = Rules(chain_count=10, chain_avg_len=Decimal(6), chain_variance=Decimal("0.25"))
    lengths = [len(chain) for app in applications(rules, 200) for chain in app.graph.chains]
    assert sum(lengths) / len(lengths) == pytest.approx(6, abs=0.1)
    assert len(set(lengths)) > 5
    assert min(lengths) >= 1


def test_execution_times_of_a_chain_sum_up_to_its_share_of_the_period() -> None:
    for application in applications(DENSE, 200):
        for chain, time in zip(application.graph.chains, application.times, strict=True):
            assert sum(application.execution_ns[each] for each in chain) == time.execution_ns


def test_merges_leave_each_chain_a_callback_of_its_own_and_make_no_cycle() -> None:
    shared = 0
    for application in applications(DENSE, 500):
        graph = application.graph
        for number, chain in enumerate(graph.chains):
            assert len(set(chain)) == len(chain)
            assert any(graph.chains_of(each) == [number] for each in chain)
            assert [graph.kinds[each] for each in chain].count(Kind.TIMER) == 1
            assert graph.kinds[chain[0]] is Kind.TIMER
        shared += sum(len(graph.on[each]) > 1 for each in graph.kinds)
    assert shared > 1000


def test_no_sync_waits_for_itself_in_ten_thousand_graphs() -> None:
    syncs = 0
    for application in applications(replace(WIDE, offsets="unstated"), 10_000):
        edges = [
            edge for chain in application.graph.chains for edge in pairwise(chain)
        ]  # fmt: skip
        assert nx.is_directed_acyclic_graph(nx.DiGraph(edges))
        for callback, kind in application.graph.kinds.items():
            if kind is Kind.SYNC:
                syncs += 1
                assert 2 <= len(application.graph.chains_of(callback)) <= 5
    assert syncs > 5_000


def test_a_probability_of_zero_merges_nothing_and_one_of_one_ends() -> None:
    callbacks = list(range(20))
    assert draw_merges(callbacks, 0.0, Draws(1, "merges")) == []
    merges = draw_merges(callbacks, 1.0, Draws(1, "merges"))
    assert len(merges) == 19
    assert len({one for one, _ in merges}) == 19
    for application in applications(Rules(), 50):
        assert len(application.graph.kinds) == 25
    for application in applications(Rules(chain_merge_p=1, chain_sync_p=1), 50):
        assert len(application.graph.chains) == 5


def test_chains_that_share_a_timer_or_a_sync_have_one_period() -> None:
    for application in applications(DENSE, 200):
        for callback, kind in application.graph.kinds.items():
            if kind is not Kind.SUBSCRIPTION:
                chains = application.graph.chains_of(callback)
                assert len({application.times[chain].period_us for chain in chains}) == 1


def test_a_sync_is_in_a_node_of_what_it_sends_to_and_does_no_work() -> None:
    for application in applications(WIDE, 100):
        for callback, kind in application.graph.kinds.items():
            if kind is Kind.SYNC:
                assert application.execution_ns[callback] == 0
                chain = application.graph.chains[application.graph.chains_of(callback)[0]]
                after = [application.places[each] for each in chain[chain.index(callback) + 1 :]]
                assert application.places[callback] in after


def test_rate_monotonic_priorities_fall_with_the_period_and_then_the_number() -> None:
    for application in applications(DENSE, 50):
        order = sorted(range(4), key=lambda n: -application.priorities[n])
        assert order == sorted(range(4), key=lambda n: (application.times[n].period_us, n))
    rules = replace(
        DENSE, priorities="chain_0", fastest_first=True, chain_merge_p=0, chain_sync_p=0
    )
    for application in applications(rules, 50):
        assert application.priorities == [1, 0, 0, 0]
        periods = [time.period_us for time in application.times]
        assert periods[0] == min(periods)


def test_events_start_chains_in_the_place_of_timers(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rules = replace(WIDE, event_p=0.5, max_event_interval=Decimal("2.5"))
    kinds = set()
    for application, without in zip(applications(rules, 20), applications(WIDE, 20), strict=True):
        assert (application.graph.chains, application.times) == (
            without.graph.chains,
            without.times,
        )
        model = load(tmp_path_factory, application)
        for chain, time in zip(model.chains, application.times, strict=True):
            first = model.callbacks[chain.callbacks[0]]
            kinds.add(first.kind)
            assert model.period_ns(chain) == time.period_us * 1000
            if isinstance(first.trigger, rclrt_model.Event):
                assert first.trigger.min_interval_ns == time.period_us * 1000
                assert first.trigger.max_interval_ns == time.period_us * 2500
    assert kinds == {"timer", "event"}


@pytest.mark.parametrize(("jitter", "shortest"), [("0.25", 750), ("2.5", 100)])
def test_events_keep_the_stated_jitter(
    tmp_path_factory: pytest.TempPathFactory, jitter: str, shortest: int
) -> None:
    rules = replace(WIDE, event_p=1, event_jitter=Decimal(jitter))
    for application in applications(rules, 5):
        model = load(tmp_path_factory, application)
        for chain, time in zip(model.chains, application.times, strict=True):
            trigger = model.callbacks[chain.callbacks[0]].trigger
            assert isinstance(trigger, rclrt_model.Event)
            assert trigger.period_ns == model.period_ns(chain) == time.period_us * 1000
            assert trigger.jitter_ns == time.period_us * 1000 * Decimal(jitter)
            assert trigger.min_interval_ns == time.period_us * shortest
