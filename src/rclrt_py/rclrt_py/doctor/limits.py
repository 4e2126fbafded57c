# SPDX-License-Identifier: Apache-2.0
"""The limits that limits.d grants a user at the next login."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.doctor.checks import Finding, ok, read, warning
from rclrt_py.doctor.login import Login
from rclrt_py.processes.realtime import RTPRIO

UNLIMITED = ("unlimited", "infinity", "-1")


@dataclass(frozen=True)
class Granted:
    """The values of limits.conf(5); None: no entry."""

    rtprio: str | None
    memlock: str | None

    @property
    def enough(self) -> bool:
        return self.memlock in UNLIMITED and _amount(self.rtprio or "") >= RTPRIO


def granted(root: Path, login: Login) -> Granted:
    """Returns the limits that pam_limits sets for this user at login, from
    /etc/security/limits.conf and limits.d. An entry for the user comes before one for a group, and
    both come before `*`. If there are several such entries, the last counts. The limit in force is
    the soft limit, which is never above the hard one."""
    best: dict[tuple[str, str], tuple[int, str]] = {}
    for domain, kind, item, value in _entries(root):
        rank = _rank(domain, login)
        for each in ("soft", "hard") if kind == "-" else (kind,):
            if rank and rank >= best.get((item, each), (0, ""))[0]:
                best[item, each] = (rank, value)
    return Granted(_effective(best, "rtprio"), _effective(best, "memlock"))


def _effective(best: Mapping[tuple[str, str], tuple[int, str]], item: str) -> str | None:
    """Returns None if the soft or the hard limit is not stated: the limit is then 0 or small."""
    if (item, "soft") not in best or (item, "hard") not in best:
        return None
    return min(best[item, "soft"][1], best[item, "hard"][1], key=_amount)


def _amount(value: str) -> float:
    if value in UNLIMITED:
        return math.inf
    return int(value) if value.isdecimal() else 0


def _entries(root: Path) -> Iterator[tuple[str, str, str, str]]:
    directory = root / "etc/security"
    for file in (directory / "limits.conf", *sorted((directory / "limits.d").glob("*.conf"))):
        for line in (read(file) or "").splitlines():
            words = line.partition("#")[0].split()
            if len(words) == 4 and words[1] in ("-", "soft", "hard"):
                yield words[0], words[1], words[2], words[3]


def _rank(domain: str, login: Login) -> int:
    if (login.account and domain == login.user) or _in_range(domain, login.uid):
        return 3
    if domain.startswith("@") and domain[1:] in login.groups:
        return 2
    return 1 if domain == "*" else 0


def _in_range(domain: str, uid: int | None) -> bool:
    """Returns whether `uid` is in the range that the first field of a limits entry states: `:uid`
    is exactly this uid, `least:` all from `least` on, `least:most` all from `least` to `most`."""
    least, colon, most = domain.partition(":")
    if not colon or uid is None or not all(part.isdecimal() for part in (least, most) if part):
        return False
    if not least:
        return most != "" and uid == int(most)
    return int(least) <= uid and (not most or uid <= int(most))


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
        f"put '{login.domain} - rtprio {RTPRIO}' and '{login.domain} - memlock unlimited' into "
        f"{login.limits_file}",
    )
