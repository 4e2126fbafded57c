# SPDX-License-Identifier: Apache-2.0
"""The directories that a generator writes: complete, or not there."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import graphviz
from rclrt_py.errors import BadInput

from rclrt_generator.app_yaml import app_yaml, chain_file
from rclrt_generator.application import GeneratedApplication
from rclrt_generator.package import package_files
from rclrt_generator.pictures import application_picture, chains_picture
from rclrt_generator.rules import Rules


@contextlib.contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """A directory to fill that becomes `path` when the block ends without an exception, and is gone
    otherwise. Throws BadInput when there is something at `path`, or it cannot be written."""
    path = path.absolute()
    if path.is_dir() and any(path.iterdir()):
        raise BadInput(f"-o {path}: is not empty; name a new directory, or empty this one")
    if path.exists() and not path.is_dir():
        raise BadInput(f"-o {path}: is a file; name a new directory")
    made = Path()
    new_parents = [parent for parent in path.parents if not parent.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        yield made
        made.chmod(0o777 & ~_umask())
        made.rename(path)
    except OSError as error:
        raise BadInput(
            f"-o {path}: cannot be written: {error.strerror or error}; choose a directory you may "
            "write, with room"
        ) from error
    finally:
        if made != Path():
            shutil.rmtree(made, ignore_errors=True)
        for parent in new_parents:
            with contextlib.suppress(OSError):  # not empty when all went well
                parent.rmdir()


def write_application(
    directory: Path,
    application: GeneratedApplication,
    priorities: dict[str, int],
    with_pictures: bool,
    client: str | None = None,
) -> bool:
    """Everything of one application, with `client` as a package for that library. False when there
    is no `dot`: the pictures are then texts for it only."""
    files = {
        "app.yaml": app_yaml(application, priorities),
        "chains.json": chain_file(application),
        "rules.json": rules_json(application.rules),
    }
    drawn = True
    if with_pictures:
        for picture in (chains_picture(application), application_picture(application)):
            files[f"{picture.name}.gv"] = picture.source
            try:
                files[f"{picture.name}.svg"] = picture.pipe(format="svg", encoding="utf-8")
            except graphviz.ExecutableNotFound:
                drawn = False
    if client is not None:
        files.update(package_files(application, priorities, client))
    for name, text in files.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    return drawn


def rules_json(rules: Rules) -> str:
    """All rules: with them the same application comes again."""
    values = {field.name: getattr(rules, field.name) for field in fields(Rules)}
    return json.dumps(values, indent=1, default=_number) + "\n"


def _number(value: object) -> float | int:
    assert isinstance(value, Decimal)
    return int(value) if value == int(value) else float(value)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
