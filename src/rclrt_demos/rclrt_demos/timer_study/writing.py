# SPDX-License-Identifier: Apache-2.0
"""The directory of a study."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import write_atomically
from rclrt_py.runs.output_directory import REPORT

from rclrt_demos.timer_study.report import PICTURES, Study, figures, page
from rclrt_demos.timer_study.runs import RUNS
from rclrt_py import __version__

RESULTS = "study.json"
MARKER = ".rclrt_study"


def study_json(study: Study) -> str:
    value = {
        "rclrt": __version__,
        "conditions": study.conditions,
        "realtime": study.realtime,
        "inheritance_as_stated": study.as_stated,
        "failures": list(study.failures),
        "runs": [each.to_json() for each in study.measured],
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def check_out(directory: Path) -> None:
    """Throws before the runs, which take minutes, if their results could not be written."""
    if directory.exists() and not directory.is_dir():
        raise BadInput(f"--out {directory}: is no directory; expected one")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / MARKER).is_file():
        raise BadInput(
            f"--out {directory}: is not empty and was not written by this command; name a new "
            "directory, or empty this one"
        )
    parent = directory if directory.is_dir() else directory.parent
    if not os.access(parent, os.W_OK | os.X_OK):
        raise BadInput(
            f"--out {directory}: {parent} is no directory that you may write; choose another"
        )


def write_study(out: Path, study: Study, made: Path) -> None:
    """Writes the page, the pictures and the results into `out`, with the files of the runs below
    `made`. Replaces the files of an earlier study there."""
    out.mkdir(exist_ok=True)
    (out / MARKER).touch()
    shutil.rmtree(out / RUNS, ignore_errors=True)
    pictures = figures(study)
    for kind in PICTURES:
        for old in out.glob(f"{kind}_rmw_*.svg"):
            old.unlink()
    shutil.copytree(made / RUNS, out / RUNS)
    for name, svg in pictures.items():
        write_atomically(out / f"{name}.svg", svg)
    write_atomically(out / REPORT, page(study, pictures))
    write_atomically(out / RESULTS, study_json(study))
