# SPDX-License-Identifier: Apache-2.0
"""Writes the files of one application."""

from __future__ import annotations

import json
from dataclasses import fields
from decimal import Decimal
from pathlib import Path

import graphviz

from rclrt_experiments.generator.app_yaml import app_yaml, chain_file
from rclrt_experiments.generator.application import GeneratedApplication
from rclrt_experiments.generator.package import package_files
from rclrt_experiments.generator.pictures import application_picture, chains_picture
from rclrt_experiments.generator.rules import Rules


def write_application(
    directory: Path,
    application: GeneratedApplication,
    priorities: dict[str, int],
    with_pictures: bool,
    client: str | None = None,
) -> bool:
    """Writes all files of one application into the directory; with `client`, also those of a colcon
    package for that client library. Returns False if the program `dot` is missing: the pictures are
    then only written as .gv files, the input of `dot`."""
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
    """Returns all rules as JSON. They give the same application again."""
    values = {field.name: getattr(rules, field.name) for field in fields(Rules)}
    return json.dumps(values, indent=1, default=_number) + "\n"


def _number(value: object) -> float | int:
    assert isinstance(value, Decimal)
    return int(value) if value == int(value) else float(value)
