# SPDX-License-Identifier: Apache-2.0
"""Checks the workflows of hosted CI: valid YAML, a call of .ci/run, a timeout, no host name."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
CHECK = ".ci/run"  # the checks that a change must pass everywhere


def problems_of(path: Path) -> Iterator[str]:
    text = path.read_text()
    yield from (f"names the host {host}" for host in re.findall(r"\w+://\S+", text))
    try:
        workflow = yaml.safe_load(text)
    except yaml.YAMLError as error:
        yield f"is no YAML: {error}"
        return
    jobs = workflow.get("jobs") if isinstance(workflow, dict) else None
    if not isinstance(jobs, dict) or not jobs:
        yield "has no jobs"
        return
    for name, job in jobs.items():
        if not isinstance(job, dict) or not isinstance(job.get("steps"), list):
            yield f"job {name} has no steps"
            continue
        if not isinstance(job.get("timeout-minutes"), int):
            yield f"job {name} has no timeout-minutes"
        steps = [step for step in job["steps"] if isinstance(step, dict)]
        if not any(str(step.get("run", "")).strip() == CHECK for step in steps):
            yield f"job {name} has no step that runs {CHECK}"
    # YAML 1.1 reads the word `on` as true.
    if not (workflow.get("on") or workflow.get(True)):
        yield "does not say on what it runs"


def main() -> int:
    folder = ROOT / ".github/workflows"
    paths = sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")])
    problems = [f"{p.relative_to(ROOT)}: {text}" for p in paths for text in problems_of(p)]
    if not paths:
        problems.append(f"{folder.relative_to(ROOT)}: has no workflow")
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(paths)} workflow(s), {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
