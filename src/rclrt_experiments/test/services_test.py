# SPDX-License-Identifier: Apache-2.0
"""Services in generated applications: the rule `service_p`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from rclrt_experiments.generator.app_yaml import app_yaml
from rclrt_experiments.generator.application import GeneratedApplication, draw_application
from rclrt_experiments.generator.graph import Kind
from rclrt_experiments.generator.pictures import application_picture
from rclrt_experiments.generator.rules import Rules
from rclrt_experiments.verification.shrink import smaller_ones
from rclrt_py.native import analysis, load_application

import rclrt_model

RULES = Rules(
    chain_count=4, chain_avg_len=Decimal(6), chain_variance=Decimal("0.3"), chain_merge_p=0.005,
    chain_sync_p=0.1, executor_count=3, cpus=(0, 1), offsets="random", group_p=0.2,
    max_message_bytes=1000, service_p=0.6,
)  # fmt: skip


def applications(rules: Rules, count: int) -> Iterator[GeneratedApplication]:
    return (draw_application(replace(rules, random_seed=seed)) for seed in range(count))


def load(
    path: pytest.TempPathFactory, application: GeneratedApplication
) -> rclrt_model.Application:
    file = path.mktemp("app") / "app.yaml"
    file.write_text(app_yaml(application))
    return load_application(file)


def test_the_model_accepts_every_application_and_has_its_services(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    services = called_by_clients = 0
    for application in applications(RULES, 40):
        model = load(tmp_path_factory, application)
        kinds = [callback.kind for callback in model.callbacks]
        assert kinds.count("service") == kinds.count("client") == len(application.services)
        assert sum(len(callback.calls) for callback in model.callbacks) == kinds.count("service")
        assert model.utilisation() == pytest.approx(float(application.load()), abs=1e-9)
        services += len(application.services)
        called_by_clients += sum(
            callback.kind == "client" and bool(callback.calls) for callback in model.callbacks
        )
    assert services > 100
    assert called_by_clients > 5


def test_a_service_is_between_two_callbacks_of_one_node_on_one_chain() -> None:
    for application in applications(RULES, 100):
        graph = application.graph
        for server, service in application.services.items():
            (chain,) = (graph.chains[number] for number in graph.on[server])
            at = chain.index(server)
            assert chain[at - 1 : at + 2] == [service.caller, server, service.client]
            assert application.places[service.client] == application.places[service.caller]
            assert graph.kinds[service.caller] is not Kind.SYNC
            assert len(graph.on[service.client]) == 1


def test_a_chance_of_one_makes_every_other_callback_a_server_and_of_zero_none() -> None:
    long = Rules(chain_count=2, chain_avg_len=Decimal(7), service_p=1.0)
    for application in applications(long, 5):
        for chain in application.graph.chains:
            assert [each in application.services for each in chain] == [False, True] * 3 + [False]
    assert not any(each.services for each in applications(replace(RULES, service_p=0.0), 20))


def test_services_leave_what_other_rules_draw_as_it_is() -> None:
    for with_services, without in zip(
        applications(RULES, 30), applications(replace(RULES, service_p=0.0), 30), strict=True
    ):
        assert with_services.graph.chains == without.graph.chains
        assert with_services.graph.kinds == without.graph.kinds
        assert with_services.times == without.times
        assert with_services.offsets_us == without.offsets_us
        assert with_services.grouped == without.grouped
        assert with_services.message_bytes.items() <= without.message_bytes.items()
        for callback, place in without.places.items():
            if callback not in with_services.served:
                assert with_services.places[callback] == place


def test_requests_and_responses_are_drawn_dashed() -> None:
    for application in applications(RULES, 10):
        edges = [
            line for line in application_picture(application).source.splitlines() if "->" in line
        ]
        assert len(edges) == sum(len(list(pairwise(chain))) for chain in application.graph.chains)
        assert sum("style=dashed" in line for line in edges) == 2 * len(application.services)


@pytest.mark.parametrize("executor", ["preemptive", "wait_set"])
def test_no_simulated_response_is_above_its_bound(
    executor: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rules = replace(RULES, executor_count=1, cpus=(0,), util_total=Decimal("0.4"))
    attacked = services = 0
    for application in applications(rules, 10):
        services += len(application.services)
        model = load(tmp_path_factory, application)
        bounds = analysis().chain_bounds(model, executor)
        wanted = [bound.bound_ns is not None and not bound.assumptions for bound in bounds]
        deadlines = [bound.bound_ns or 3_600_000_000_000 for bound in bounds]
        attacked += sum(wanted)
        bounded = load(tmp_path_factory, replace(application, deadlines_ns=deadlines))
        found = analysis().search_schedules(bounded, executor, wanted, instances=5_000)
        assert found.examples == [None] * len(wanted)
    assert attacked > 20
    assert services > 20


def test_smaller_applications_keep_the_services_that_they_have_room_for(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    without = 0
    for application in applications(RULES, 5):
        for smaller in smaller_ones(application):
            model = load(tmp_path_factory, smaller)
            kinds = [callback.kind for callback in model.callbacks]
            assert kinds.count("service") == len(smaller.services)
            without += not smaller.services
    assert without >= 5
