# SPDX-License-Identifier: Apache-2.0
"""`rclrt calibrate --peer`: the link between two network namespaces with `tbf`, and real ROS 2."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import jsonschema
import pytest
import yaml
from rclrt_py.agents.connections import hosts_environment
from rclrt_py.calibration.link_application import SIZES
from rclrt_py.testing.command import Rclrt, command, environment
from rclrt_py.testing.namespaces import HOSTS, TwoHosts, permitted_or_skipped, two_hosts
from rclrt_py.testing.waiting import GENEROUS_S
from sources import ROOT

LEFT, RIGHT = HOSTS
RATE_KBIT = 10_000
BURST_BYTES = 10_000


@pytest.fixture(scope="module")
def hosts() -> Iterator[TwoHosts]:
    with two_hosts() as made:
        with permitted_or_skipped():
            for host in HOSTS:
                made.shape(host, RATE_KBIT, BURST_BYTES, 1_000_000)
        yield made


def calibrate(
    hosts: TwoHosts, *more: object, peers: Sequence[str] = (RIGHT,)
) -> subprocess.CompletedProcess[str]:
    agent = shlex.join(hosts.command(RIGHT, command("agent")))
    stated = [word for peer in peers for word in ("--peer", f"{peer}={agent}")]
    return subprocess.run(
        hosts.command(LEFT, command("calibrate", *stated, *more)),
        env=hosts_environment(environment()),
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )


def test_the_rate_of_a_shaper_is_found_in_both_directions(hosts: TwoHosts, tmp_path: Path) -> None:
    out = tmp_path / "link.json"
    done = calibrate(hosts, "--seconds", "15", "-o", out)
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text())
    jsonschema.validate(document, json.loads((ROOT / "schemas/link.schema.json").read_text()))
    forth, back = document["directions"]
    assert (forth["from"], forth["to"]) == (back["to"], back["from"]) == (LEFT, RIGHT)
    for way in (forth, back):
        assert way["rate_kbit"] == pytest.approx(RATE_KBIT, rel=0.15)
        assert [size["bytes"] for size in way["sizes"]] == list(SIZES)
        for size in way["sizes"]:
            # The shaper never sends faster, whatever the machine does.
            least = 8 * (size["bytes"] - BURST_BYTES) / RATE_KBIT
            assert size["best_ms"] >= least - size["error_ms"]
            assert size["best_ms"] <= size["p50_ms"] <= size["p99_ms"]
            assert 0 < size["received"] <= size["sent"]
        assert 0 <= way["fixed_ms"] <= way["sizes"][0]["best_ms"]
    entry = document["link"]
    assert entry["between"] == [LEFT, RIGHT]
    assert entry["shaper"]["rate_kbit"] == pytest.approx(RATE_KBIT, rel=0.15)
    assert "shaper: {rate_kbit: " in done.stdout
    assert "These measurements are no bounds" in done.stdout
    assert f"{LEFT} to {RIGHT}: " in done.stdout


def test_each_link_is_measured_if_several_are_named(hosts: TwoHosts, tmp_path: Path) -> None:
    """Both names lead to one host, over one link."""
    peers = (RIGHT, f"{RIGHT}_again")
    done = calibrate(hosts, "--seconds", "5", "-o", tmp_path / "link.json", peers=peers)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"link_{RIGHT}.json",
        f"link_{RIGHT}_again.json",
    ]
    for peer in peers:
        document = json.loads((tmp_path / f"link_{peer}.json").read_text())
        assert document["link"]["name"] == f"link_{peer}"
        assert document["link"]["between"] == [LEFT, peer]
        assert f"{LEFT} to {peer}: " in done.stdout
    entries = yaml.safe_load(done.stdout.partition("In the app.yaml:")[2].partition("These")[0])
    assert [each["between"][1] for each in entries["links"]] == list(peers)


def test_a_link_that_is_too_slow_for_the_time_is_said_to_be(hosts: TwoHosts) -> None:
    done = calibrate(hosts, "--seconds", "1")
    assert done.returncode == 1
    assert "a message of 60000 bytes takes " in done.stderr
    assert "fix: --seconds " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--peer", "arm"], "'arm' is no agent"),
        (["--peer", "arm=10.0.0.2:7400"], "--peer with an address needs the token"),
        (["--peer", "arm=10.0.0.2:99999"], "the port is 99999; expected 1 to 65535"),
        (["--peer", "arm=ssh a b", "--peer", "arm=ssh a b"], "--peer: host 'arm' has two agents"),
        (["--peer", "arm=ssh a b", "--peer", "leg=ssh a b", "-o", "."], "-o .: is a directory"),
        (["--peer", "arm--2=ssh arm rclrt agent"], "expected a name of letters, digits and"),
        (["--peer", "arm=ssh arm rclrt agent", "--cpu", "0"], "--cpu: is for the overheads"),
        (["--peer", "arm=ssh arm rclrt agent", "--seconds", "0.5"], "expected at least 1"),
        (["--peer", "arm=ssh arm rclrt agent", "-o", "/nowhere/file"], "no directory; make it"),
        (["--token-file", "token"], "--token-file: is the token of an agent"),
    ],
)
def test_wrong_options_are_refused(
    arguments: list[str], said: str, rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RCLRT_AGENT_TOKEN", raising=False)
    answer = rclrt("calibrate", *arguments)
    assert answer.code == 2
    assert said in answer.err
