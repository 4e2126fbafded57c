# SPDX-License-Identifier: Apache-2.0
"""The properties of every shared library: name, early binding, exports and dependencies."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from installed import our_prefixes, run

ALWAYS = {
    "rclrt",
    "rclrt_analysis",
    "rclrt_executor",
    "rclrt_model",
    "rclrt_realtime",
    "rclrt_recorder",
    "rclrt_text",
    "rclrt_workloads",
}
"""Packages that have a library. Those on rclcpp are built only where that is."""

BENEATH = {"c", "crypto", "fmt", "gcc_s", "m", "stdc++", "thread_db", "yaml-0", "z"}
"""The libraries that ours without ROS may need: those of docs/reference/dependencies.md and of the
compiler."""

# A mangled name up to its outermost namespace. It may be nested, local to a function, or that of a
# vtable, typeinfo, thunk or guard.
SCOPE = re.compile(
    r"_Z(?:T[VTIS]|GV|GR|T(?:h[n\d]+_|v[n\d]+_[n\d]+_|c.*?_))?[PKF]*Z*(?:N[VKrRO]*)?"
    r"(?P<scope>S[tabsiod]|\d+[A-Za-z_]\w*)"
)
FOR_LIBTHREAD_DB = {
    "ps_getpid",
    "ps_lgetfpregs",
    "ps_lgetregs",
    "ps_lsetfpregs",
    "ps_lsetregs",
    "ps_pdread",
    "ps_pdwrite",
    "ps_pglobal_lookup",
}
"""The functions that a user of libthread_db must export: proc_service.h of the C library."""

VAGUE = "WVu"
"""Letters of nm for vague linkage: several libraries may define such a symbol; one is used."""


def libraries() -> dict[str, Path]:
    """Returns our libraries by package, without the libraries of messages (rosidl's, with __)."""
    return {
        path.name.removeprefix("lib").removesuffix(".so"): path
        for prefix in our_prefixes()
        for path in sorted((prefix / "lib").glob("librclrt*.so"))
        if "__" not in path.name
    }


LIBRARIES = libraries()
each_library = pytest.mark.parametrize("package", LIBRARIES)


def output(*command: object) -> str:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return run(*command, environment=environment, directory=Path("/")).stdout


def manifest(package: str) -> ElementTree.Element:
    path = LIBRARIES[package].parent.parent / "share" / package / "package.xml"
    return ElementTree.parse(path).getroot()


def dynamic(package: str, entry: str) -> list[str]:
    """Returns the values of a kind of entry in the library's dynamic section."""
    section = output("readelf", "--dynamic", "--wide", LIBRARIES[package])
    return re.findall(rf"\({entry}\)\s+(.*)", section)


def scope(symbol: str) -> str:
    """Returns the namespace (rclrt, a package or std), or the symbol if it is in none of these."""
    found = SCOPE.match(symbol)
    if found is None:
        return symbol
    if found["scope"].startswith("S") or found["scope"].startswith("9__gnu_cxx"):
        return "std"
    length = re.match(r"\d+", found["scope"])
    assert length is not None
    return found["scope"][length.end() :][: int(length[0])]


def unwanted(package: str, symbols: list[tuple[str, str]]) -> list[str]:
    """Returns the exported symbols (letter of nm, name) that must not be exported.

    Our own symbols are in the namespace rclrt, or in that of the package. Template instances of the
    standard library with vague linkage are allowed, too: libstdc++ declares its namespace visible,
    which overrides -fvisibility=hidden. rclcpp does the same with its classes. The interfaces of
    rclrt_rclcpp that rclrt_robot implements have vague linkage as well.
    """
    names = []
    for letter, name in symbols:
        allowed = {"rclrt", package}
        if letter in VAGUE:
            allowed |= {"std", "rclcpp", "rclrt_rclcpp"}
        if scope(name) not in allowed:
            names.append(name)
    return names


@pytest.mark.parametrize(
    ("letter", "name", "wanted"),
    [
        ("T", "_ZN5rclrt8executor16current_instanceEv", True),
        ("V", "_ZTVN5rclrt4NodeE", True),
        ("W", "_ZN5rclrt4yamleqERKNS_8PositionES3_", True),
        ("u", "_ZZNSt19_Sp_make_shared_tag5_S_tiEvE5__tag", True),
        ("W", "_ZNKSt6vectorIN5rclrt4NodeESaIS1_EE4sizeEv", True),
        ("T", "_ZNSt6vectorIN5rclrt4NodeESaIS1_EE4sizeEv", False),  # a strong definition
        ("T", "main", False),
        ("T", "sha256_of", False),
        ("T", "_Z7do_workv", False),
        ("W", "_ZN8nlohmann4json5parseEv", False),
        ("W", "_ZN3fmt2v96formatIN5rclrt4NodeEEEvT_", False),
        ("V", "_ZTIN5boost9exceptionE", False),
        ("T", "_ZN6rclrt24makeEv", False),
    ],
)
def test_the_rule_tells_ours_from_others(letter: str, name: str, wanted: bool) -> None:
    assert unwanted("rclrt", [(letter, name)]) == ([] if wanted else [name])


def test_every_library_is_there() -> None:
    assert set(LIBRARIES) - {"rclrt_rclcpp", "rclrt_robot"} == ALWAYS


@each_library
def test_the_name_has_the_version_on_which_the_abi_depends(package: str) -> None:
    version = manifest(package).findtext("version") or ""
    abi = ".".join(version.split(".")[:2])  # before 1.0.0 a minor version may change the ABI
    path = LIBRARIES[package]
    assert dynamic(package, "SONAME") == [f"Library soname: [{path.name}.{abi}]"]
    assert path.resolve().name == f"{path.name}.{version}"
    assert (path.parent / f"{path.name}.{abi}").resolve() == path.resolve()


@each_library
def test_symbols_are_resolved_when_the_library_is_loaded(package: str) -> None:
    assert any("BIND_NOW" in flags for flags in dynamic(package, "FLAGS"))


def test_the_client_library_is_never_unloaded() -> None:
    """Its thread for signals runs until the process ends."""
    assert any("NODELETE" in flags for flags in dynamic("rclrt", "FLAGS_1"))


@each_library
def test_nothing_is_exported_but_ours(package: str) -> None:
    lines = output("nm", "--dynamic", "--defined-only", LIBRARIES[package]).splitlines()
    symbols = [(line.split()[-2], line.split()[-1]) for line in lines]
    assert any(scope(name) in ("rclrt", package) for _, name in symbols)
    expected = FOR_LIBTHREAD_DB if package == "rclrt_realtime" else set()
    assert set(unwanted(package, symbols)) == expected


@each_library
def test_a_package_without_ros_needs_no_library_of_it(package: str) -> None:
    needed = re.findall(r"\[lib([^]]+?)\.so", " ".join(dynamic(package, "NEEDED")))
    if manifest(package).findtext("export/build_type") == "cmake":
        assert set(needed) <= BENEATH | ALWAYS - {"rclrt"}
    else:
        assert "rclrt_executor" in needed  # the engine is a shared library, not linked statically
