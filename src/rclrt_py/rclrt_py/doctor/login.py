# SPDX-License-Identifier: Apache-2.0
"""The user that the advice is for, with the name that limits.conf(5) uses."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import quote

_DIRECTORY = "/etc/security/limits.d"


@dataclass(frozen=True)
class Login:
    """A user who logs in."""

    user: str
    groups: Collection[str]
    root: bool
    """Whether the user is root, which needs no entry."""
    uid: int | None = None
    account: bool = True
    """Whether the user has an entry in passwd. If not, `user` is the number."""

    @property
    def domain(self) -> str:
        """The first field of an entry of limits.conf(5) for this user: the name or, without an
        account, `:number`. (`number:` without the leading colon would mean this uid and all
        above.)"""
        return self.user if self.account else f":{self.user}"

    @property
    def limits_file(self) -> str:
        """The path of a limits file for this user only, so that the entries of other users stay as
        they are. Its name sorts after `rclrt.conf`, which earlier versions wrote: the last entry
        counts."""
        return f"{_DIRECTORY}/rclrt_{quote(self.user, safe='')}.conf"


def this_login() -> Login:
    """Returns the user of this process."""
    number = os.geteuid()
    groups = sorted(_group_names())
    try:
        user = pwd.getpwuid(number).pw_name
    except KeyError:  # a container may have no entry
        return Login(str(number), groups, root=number == 0, uid=number, account=False)
    return Login(user, groups, root=number == 0, uid=number)


def _group_names() -> Iterator[str]:
    for number in {os.getegid(), *os.getgroups()}:
        try:
            yield grp.getgrgid(number).gr_name
        except KeyError:
            continue
