# SPDX-License-Identifier: Apache-2.0
"""Two hosts on one machine: network namespaces with a cable (veth) between them.

Each host has its own interfaces, name, and /dev/shm, so that ROS 2 takes it for another machine.
All of it ends with the context manager, or with this process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

import pytest

from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.testing.waiting import GENEROUS_S

HOSTS = ("left", "right")
REQUIRED = "RCLRT_REQUIRE_NAMESPACES"
"""If this variable of the environment is 1, tests fail where namespaces are not permitted."""
_TOOLS = ("ip", "nsenter", "unshare")
_SET_UP = "mount -t tmpfs tmpfs /dev/shm && ip link set lo up && hostname {name}"
_READY = _SET_UP + " && echo ready && exec cat"


class NotPermittedHere(Exception):
    """Namespaces cannot be made here. The text is the reason."""


@contextmanager
def permitted_or_skipped() -> Iterator[None]:
    """Skips the test if NotPermittedHere is thrown; it fails if REQUIRED is set, as continuous
    integration does where namespaces are permitted."""
    try:
        yield
    except NotPermittedHere as reason:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, but network namespaces are not permitted: {reason}")
        pytest.skip(f"network namespaces are not permitted here: {reason}")


@contextmanager
def two_hosts() -> Iterator[TwoHosts]:
    """Yields two hosts for a test. Where namespaces are not permitted, the test is skipped."""
    with ExitStack() as stack:
        with permitted_or_skipped():
            made = stack.enter_context(TwoHosts())
        yield made


class TwoHosts:
    """The hosts `left` (10.99.0.1) and `right` (10.99.0.2).

    Without root, it uses a user namespace. Raises NotPermittedHere if that is not permitted either.
    """

    def __init__(self) -> None:
        self._holders: list[subprocess.Popen[str]] = []
        missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
        if missing:
            raise NotPermittedHere(f"{', '.join(missing)} not found")

    def __enter__(self) -> TwoHosts:
        try:
            user = [] if os.geteuid() == 0 else ["--map-root-user"]
            self._hold([*("unshare", *user, "--mount", "--net", "--uts")], HOSTS[0])
            self._hold([*self._enter(0), *("unshare", "--mount", "--net", "--uts")], HOSTS[1])
            peer = str(self._holders[1].pid)
            cable = ("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable")
            self.run(HOSTS[0], [*cable, "netns", peer])
            for number, host in enumerate(HOSTS, 1):
                self.run(host, ["ip", "address", "add", f"10.99.0.{number}/24", "dev", "cable"])
                self.run(host, ["ip", "link", "set", "cable", "up", "multicast", "on"])
                self.run(host, ["ip", "route", "add", "224.0.0.0/4", "dev", "cable"])
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for holder in self._holders:
            holder.kill()
            for pipe in (holder.stdin, holder.stdout, holder.stderr):
                if pipe is not None:
                    pipe.close()
            holder.wait()

    def command(self, host: str, command: Sequence[str]) -> list[str]:
        """Returns the command that runs `command` on the host."""
        return [*self._enter(HOSTS.index(host)), *command]

    def run(self, host: str, command: Sequence[str]) -> None:
        """Runs a short command on the host. Raises RuntimeError if it fails."""
        done = subprocess.run(
            self.command(host, command), capture_output=True, text=True, timeout=GENEROUS_S
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")

    def shape(self, host: str, rate_kbit: int, burst_bytes: int, limit_bytes: int) -> None:
        """Puts the kernel's token bucket on the cable, for what the host sends. Raises
        NotPermittedHere if the kernel has none."""
        shaper = f"rate {rate_kbit}kbit burst {burst_bytes} limit {limit_bytes}"
        try:
            self.run(host, ["tc", *f"qdisc add dev cable root tbf {shaper}".split()])
        except RuntimeError as reason:
            raise NotPermittedHere(str(reason)) from reason

    def network_of(self, host: str) -> str:
        """Returns the path of the host's network namespace. A process of root may enter it."""
        return f"/proc/{self._holders[HOSTS.index(host)].pid}/ns/net"

    def _enter(self, index: int) -> list[str]:
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        target = str(self._holders[index].pid)
        return ["nsenter", "--target", target, *user, "--mount", "--net", "--uts"]

    def _hold(self, unshare: Sequence[str], name: str) -> None:
        """Starts a process that keeps the namespaces of a host until its standard input ends."""
        holder = subprocess.Popen(
            [*unshare, "sh", "-c", _READY.format(name=name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent(),
        )
        self._holders.append(holder)
        assert holder.stdout is not None
        assert holder.stderr is not None
        if holder.stdout.readline() != "ready\n":
            raise NotPermittedHere(holder.stderr.read().strip() or "unshare failed")


Line = dict[str, Any]


@contextmanager
def program_on(
    hosts: TwoHosts, host: str, command: Sequence[str], limit_s: float, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Runs a program of ROS 2 on a host, which searches the other one. It ends with the context,
    or after `limit_s`."""
    process = subprocess.Popen(
        hosts.command(host, command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"} | variables,
        preexec_fn=end_with_parent(),
    )
    limit = threading.Timer(limit_s, process.kill)
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        process.terminate()
        process.communicate()


def lines_until(process: subprocess.Popen[str], is_enough: Callable[[Line], bool]) -> list[Line]:
    """Returns the lines of JSON up to the first one that is enough."""
    assert process.stdout is not None
    result: list[Line] = []
    for text in process.stdout:
        result.append(json.loads(text))
        if is_enough(result[-1]):
            return result
    pytest.fail(f"the program ended with {process.wait()} after {result[-3:]}")
