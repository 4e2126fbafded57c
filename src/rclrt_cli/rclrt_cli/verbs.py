# SPDX-License-Identifier: Apache-2.0
"""Verbs that other packages add to rclrt. A package adds `rclrt generate` by the entry point

    [rclrt.verbs]
    generate = their_package.generate_command

which names a module with HELP, add_arguments(parser) and run(arguments), like the verbs of this
package. A verb that takes arguments behind `--` also has TRAILING, which describes them, and gets
them as `arguments.trailing`. A search for such packages takes time, so it is made only for a verb
that is not of this package and for a list of all verbs.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from types import ModuleType
from typing import TYPE_CHECKING

from rclrt_py.errors import RclrtError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rclrt.verbs"
PARTS = ("HELP", "add_arguments", "run")

PACKAGES = {
    "clock": "rclrt_clock",
    "exercise": "rclrt_demos",
    "experiment": "rclrt_experiments",
    "generate": "rclrt_experiments",
    "latency": "rclrt_latency",
    "model": "rclrt_trace",
    "postprocess": "rclrt_experiments",
    "study": "rclrt_demos",
    "trace": "rclrt_trace",
    "verify": "rclrt_experiments",
}
"""Packages of rclrt by verb, for the message if a package is not built."""


def added_verbs(own: Container[str]) -> dict[str, EntryPoint]:
    """Returns the entry points by verb, sorted. A verb of our `own` cannot be replaced."""
    from importlib.metadata import entry_points

    points = {point.name: point for point in entry_points(group=GROUP) if point.name not in own}
    return dict(sorted(points.items()))


def load_verb(point: EntryPoint) -> ModuleType:
    """Loads a verb. Throws RclrtError if the module cannot be imported or is not that of a verb."""
    try:
        module: ModuleType = point.load()
    except Exception as error:
        raise _broken(point, f"{type(error).__name__}: {error}") from error
    missing = [part for part in PARTS if not hasattr(module, part)]
    if missing:
        raise _broken(point, f"it has no {', no '.join(missing)}")
    return module


def load_all_verbs(own: Container[str]) -> dict[str, ModuleType]:
    """Loads all verbs that can be loaded. Reports the others on standard error."""
    modules = {}
    for name, point in added_verbs(own).items():
        try:
            modules[name] = load_verb(point)
        except RclrtError as error:
            print(f"rclrt: {error}", file=sys.stderr)
    return modules


def _broken(point: EntryPoint, reason: str) -> RclrtError:
    package = point.dist.name if point.dist else "another package"
    return RclrtError(
        f"the verb {point.name} of {package} cannot be loaded from {point.value} ({reason})\n"
        f"  fix: install a version of {package} that fits this rclrt, or remove it"
    )
