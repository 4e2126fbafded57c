# SPDX-License-Identifier: Apache-2.0
"""Tables of `rclrt assign`: the effect on each chain, the layouts, and the places."""

from __future__ import annotations

from collections.abc import Iterator

from rclrt_py.analyses.assignment import Assignment, AssignmentQuality, TaskAssignment
from rclrt_py.terminal.table import Columns, fitted_lines
from rclrt_py.text import deadline, exact

from rclrt_cli.tables.chains import assumption_lines

LAYOUT_NAMES = {
    "stated": "as the file states",
    "partitioned": "one CPU for each executor",
    "global": "all CPUs for each process",
}


def task_table(result: TaskAssignment) -> Iterator[str]:
    columns = Columns(8, left=0)
    for task in sorted(result["tasks"], key=lambda task: -task["priority"]):
        name = task["id"][:60].encode("unicode_escape").decode()
        yield columns.line(str(task["priority"]), f"  {name}")
    yield ""
    if result["schedulable"]:
        yield "schedulable: proved, by Audsley's algorithm"
    elif result["optimal"]:
        yield "schedulable: no; nor with any other priorities (Audsley's algorithm is optimal here)"
    else:
        yield "schedulable: not proved; Audsley's algorithm is not optimal for this set"


def chain_table(result: Assignment) -> Iterator[str]:
    sampled = result.get("cause_effect_chains", [])
    names = [f"{chain['id']}, reaction" for chain in sampled]
    names += [chain["id"] for chain in result["chains"]]
    columns = Columns.named(["chain", *names], 13, 13, 13)
    yield columns.line("chain", "before ms", "after ms", "deadline ms", "  verdict")
    for chain in result["chains"]:
        bounds = (exact(chain["bound_ms_before"]), exact(chain["bound_ms"]))
        verdicts = f"  {chain['verdict_before']} -> {chain['verdict']}"
        yield columns.line(chain["id"], *bounds, deadline(chain["deadline_ms"]), verdicts)
        for assumption in chain["assumptions"]:
            yield columns.indent + f"  if {assumption}"
    for each in sampled:
        verdicts = f"  {each['verdict_before']} -> {each['verdict']}"
        reaction = (each["reaction_ms_before"], each["reaction_ms"], each["max_reaction_ms"])
        age = (each["age_ms_before"], each["age_ms"], each["max_age_ms"])
        yield columns.line(f"{each['id']}, reaction", *map(exact, reaction), verdicts)
        yield columns.line(f"{each['id']}, data age", *map(exact, age))
    yield ""
    yield from _layout_lines(result)
    yield from _place_lines(result)
    yield (
        f"Optimised: {result['optimised']}: "
        f"{_reached(result['objective'], result['before'])} before, "
        f"{_reached(result['objective'], result['after'])} after, "
        f"in {result['evaluations']} evaluations from '{result['start']}'."
    )
    if result["optimal"]:
        yield "Independent callbacks on one core: Audsley's algorithm, which misses no solution."
    else:
        yield "A local search: there may be better ones."
    yield from assumption_lines(result["assumptions"], all_of_them=True)


def _layout_lines(result: Assignment) -> Iterator[str]:
    """Shows how good each layout is, if there are several."""
    layouts = result["layouts"]
    if len(layouts) > 1:
        rows = [["layout", "not proved", "bound / deadline", ""]]
        for each in layouts:
            quality = each["quality"]
            name = LAYOUT_NAMES.get(each["layout"], f"up to {each['most_cpus']} CPUs each")
            worst = f"{quality['worst_bound_by_deadline']:.3g}"
            if quality["not_bounded"]:
                worst = f"{quality['not_bounded']} without a bound"
            chosen = "chosen" if each["chosen"] else ""
            rows.append([name, str(quality["not_proved"]), worst, f"  {chosen}"])
        yield from fitted_lines(rows)
    if result["layouts_not_tried"]:
        yield f"No other layout: {result['layouts_not_tried']}."
    if len(layouts) > 1 or result["layouts_not_tried"]:
        yield ""


def _place_lines(result: Assignment) -> Iterator[str]:
    """Shows what runs in each executor: nodes, and callbacks of nodes that run elsewhere."""
    for executor in result["executors"]:
        name = executor["name"]
        nodes = [node["id"] for node in result["nodes"] if node["executor"] == name]
        parts = [", ".join(nodes)] if nodes else []
        for node in result["nodes"]:
            own = [each["id"] for each in node["callbacks"] if each["executor"] == name]
            if own:
                parts.append(f"of {node['id']}: {', '.join(own)}")
        word = "CPU" if len(executor["cpus"]) == 1 else "CPUs"
        yield f"{name} on {word} {', '.join(map(str, executor['cpus']))}: {'; '.join(parts)}"


def _reached(objective: str, quality: AssignmentQuality) -> str:
    if objective == "min-response":
        return f"{quality['not_proved']} and {quality['mean_bound_ms']:.6g} ms"
    return f"{quality['not_proved']} and {quality['worst_bound_by_deadline']:.3g}"
