# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.report.layout import DUMMY_DISTANCE, lay_out

names = [f"v{number}" for number in range(12)]
edge_lists = st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=25)


def test_a_chain_is_one_level_line() -> None:
    layout = lay_out(["a", "b", "c"], [("a", "b"), ("b", "c")])
    assert [layout.places[name].layer for name in "abc"] == [0, 1, 2]
    assert {layout.places[name].y for name in "abc"} == {0.0}
    assert (layout.layers, layout.height) == (3, 0.0)


def test_a_vertex_is_right_of_its_longest_path() -> None:
    #  a -> b -> c -> d, and a -> d
    layout = lay_out(list("abcd"), [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert layout.places["d"].layer == 3
    # The short cut passes the layers of b and c, beside them.
    bends = layout.bends["a", "d"]
    assert [bend.layer for bend in bends] == [1, 2]
    for bend, name in zip(bends, "bc", strict=True):
        assert abs(bend.y - layout.places[name].y) >= DUMMY_DISTANCE - 1e-9


def test_crossings_are_undone() -> None:
    # Drawn in the order given, a-d and b-c would cross.
    layout = lay_out(list("abcd"), [("a", "d"), ("b", "c")])
    above = layout.places["a"].y < layout.places["b"].y
    assert (layout.places["d"].y < layout.places["c"].y) == above


def test_a_fork_is_centred_on_what_feeds_it() -> None:
    layout = lay_out(["source", "up", "down"], [("source", "up"), ("source", "down")])
    y = {name: place.y for name, place in layout.places.items()}
    assert y["source"] == (y["up"] + y["down"]) / 2
    assert abs(y["up"] - y["down"]) == 1.0


def test_parts_that_are_not_connected_stand_one_below_the_other() -> None:
    layout = lay_out(list("abcd"), [("a", "b"), ("c", "d")])
    assert layout.places["c"].y == layout.places["a"].y + 1.0


def test_a_cycle_is_drawn_all_the_same() -> None:
    layout = lay_out(list("abc"), [("a", "b"), ("b", "c"), ("c", "b")])
    assert set(layout.places) == set("abc")


def test_nothing_needs_no_room() -> None:
    assert lay_out([], []).layers == 0


@given(edge_lists)
def test_vertices_of_a_layer_keep_their_distance_and_edges_go_right(
    edges: list[tuple[str, str]],
) -> None:
    layout = lay_out(names, edges)
    for layer in range(layout.layers):
        column = sorted(place.y for place in layout.places.values() if place.layer == layer)
        assert all(below - above >= 1.0 - 1e-6 for above, below in pairwise(column))
    for (before, after), bends in layout.bends.items():
        steps = [
            layout.places[before].layer,
            *(bend.layer for bend in bends),
            layout.places[after].layer,
        ]
        assert all(right == left + 1 for left, right in pairwise(steps))
    assert min(place.y for place in layout.places.values()) >= -1e-6
    assert max(place.y for place in layout.places.values()) <= layout.height + 1e-6
