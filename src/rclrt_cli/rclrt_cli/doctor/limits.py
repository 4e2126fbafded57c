# SPDX-License-Identifier: Apache-2.0
"""What limits.d grants a user at the next login."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from rclrt_cli.doctor.checks import Finding, ok, read, warning
from rclrt_cli.doctor.privileges import LIMITS_FILE, RTPRIO

UNLIMITED = ("unlimited", "infinity", "-1")


@dataclass(frozen=True)
class Login:
    """Who logs in."""

    user: str
    groups: Collection[str]
    root: bool
    """Needs no entry."""


@dataclass(frozen=True)
class Granted:
    """The values of limits.conf(5); None: no entry."""

    rtprio: str | None
    memlock: str | None

    @property
    def enough(self) -> bool:
        urgent = self.rtprio or ""
        return self.memlock in UNLIMITED and (
            urgent in UNLIMITED or (urgent.isdecimal() and int(urgent) >= RTPRIO)
        )


def granted(root: Path, login: Login) -> Granted:
    """As pam_limits reads the files: an entry of the user before one of a group before `*`, and
    the last of several."""
    best: dict[str, tuple[int, str]] = {}
    for domain, item, value in _entries(root):
        rank = _rank(domain, login)
        if rank and rank >= best.get(item, (0, ""))[0]:
            best[item] = (rank, value)
    found = {item: value for item, (_, value) in best.items()}
    return Granted(found.get("rtprio"), found.get("memlock"))


def _entries(root: Path) -> Iterator[tuple[str, str, str]]:
    directory = root / "etc/security"
    for file in (directory / "limits.conf", *sorted((directory / "limits.d").glob("*.conf"))):
        for line in (read(file) or "").splitlines():
            words = line.partition("#")[0].split()
            if len(words) == 4 and words[1] in ("-", "soft", "hard"):
                yield words[0], words[2], words[3]


def _rank(domain: str, login: Login) -> int:
    if domain == login.user:
        return 3
    if domain.startswith("@") and domain[1:] in login.groups:
        return 2
    return 1 if domain == "*" else 0


def limits(root: Path, login: Login) -> Finding:
    name = "limits.d"
    if login.root:
        return ok(name, "root needs no entry")
    found = granted(root, login)
    said = f"rtprio {found.rtprio or 'not stated'}, memlock {found.memlock or 'not stated'}"
    if found.enough:
        return ok(name, said)
    return warning(
        name,
        f"at the next login {login.user} has {said}",
        f"put '{login.user} - rtprio {RTPRIO}' and '{login.user} - memlock unlimited' into "
        f"{LIMITS_FILE}",
    )
