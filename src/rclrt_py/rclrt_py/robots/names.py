# SPDX-License-Identifier: Apache-2.0
"""Names of threads as patterns of a robot.yaml, and names of programs as names of processes."""

from __future__ import annotations

import json
import re
from collections.abc import Container

NAME_LENGTH = 15
"""Bytes of a thread's name that the kernel keeps."""
MIDDLEWARE = "middleware"
"""The word for all threads of the middleware that runs."""
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
"""Words that a reader of YAML may take for something other than a text."""


def as_yaml(text: str) -> str:
    """Returns a text as a scalar of YAML, in quotes where that is necessary."""
    if PLAIN.fullmatch(text) and text.lower() not in WORDS:
        return text
    return "".join(
        each if each.isprintable() else f"\\U{ord(each):08x}"
        for each in json.dumps(text, ensure_ascii=False)
    )


def cut(name: str) -> str:
    """Returns as much of a thread's name as the kernel keeps."""
    return name.encode()[:NAME_LENGTH].decode(errors="ignore")


def pattern_of(name: str) -> str:
    """Returns a thread's name as a pattern of fnmatch(3) that matches only this name, as a text of
    YAML."""
    plain = re.sub(r"([*?\[\\])", r"\\\1", cut(name))
    if cut(name).encode() != name.encode()[:NAME_LENGTH]:
        plain += "*"  # for the bytes of a character that the kernel cuts
    if plain == MIDDLEWARE:
        plain = f"[{plain[0]}]{plain[1:]}"
    return as_yaml(plain)


def process_name(program: str, taken: Container[str]) -> str:
    """Returns a name of a process in a host's file, like that of the program, that is not taken."""
    name = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", program, flags=re.ASCII))[:100]
    name = name.strip("_") or "process"
    name = name if name[0].isalpha() else f"process_{name}"
    number, result = 1, name
    while result in taken:
        number += 1
        result = f"{name}_{number}"
    return result
