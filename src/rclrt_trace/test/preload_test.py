# SPDX-License-Identifier: Apache-2.0
"""A library is preloaded if LD_PRELOAD can name its path; else the command is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_py.errors import BadInput

from rclrt_trace import preload


def installed(prefix: Path) -> str:
    directory = prefix / "lib" / preload.PACKAGE
    directory.mkdir(parents=True)
    (directory / "librclrt_tracepoints.so").touch()
    return str(prefix)


def test_libraries_come_before_those_of_the_user(tmp_path: Path) -> None:
    prefix = installed(tmp_path / "plain")
    before = {"AMENT_PREFIX_PATH": f"/none:{prefix}", "LD_PRELOAD": "libmine.so"}
    made = preload.traceable(before)
    assert made["LD_PRELOAD"] == (
        f"{prefix}/lib/rclrt_tracetools/librclrt_tracepoints.so:libmine.so"
    )


@pytest.mark.parametrize("name", ["my robot", " ", "two  blanks here "])
def test_a_prefix_with_a_blank_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    prefix = installed(tmp_path / name)
    with pytest.raises(BadInput, match=r"LD_PRELOAD ends a name at a blank.*install"):
        preload.traceable({"AMENT_PREFIX_PATH": prefix})


def test_a_prefix_with_a_colon_is_found_and_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = installed(tmp_path / "ros:kilted")
    module = Path(prefix) / "lib" / "python3.11" / "site-packages" / "rclrt_trace" / "preload.py"
    monkeypatch.setattr(preload, "__file__", str(module))
    with pytest.raises(BadInput, match="ros:kilted"):
        preload.traceable({"AMENT_PREFIX_PATH": prefix})


def test_a_link_without_a_blank_is_enough(tmp_path: Path) -> None:
    installed(tmp_path / "my robot")
    link = tmp_path / "robot"
    link.symlink_to(tmp_path / "my robot")
    made = preload.traceable({"AMENT_PREFIX_PATH": str(link)})
    assert made["LD_PRELOAD"].startswith(str(link))
