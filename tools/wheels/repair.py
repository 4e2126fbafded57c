# SPDX-License-Identifier: Apache-2.0
"""Turns the ROS 2 wheels in this virtual environment into a proper ROS 2 installation.

Wheels contain paths of the machine that built them. After this script, `find_package(rcl)`, message
generation and linking need no special flags, programs need no LD_LIBRARY_PATH, and our packages
need no special case for wheels. tools/setup runs it once, with the environment's Python.
"""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy

PREFIX = Path(sys.prefix)
LIB = PREFIX / "lib"
SITE = Path(sysconfig.get_path("purelib"))
LIBPYTHON = sysconfig.get_config_var("INSTSONAME")  # e.g. libpython3.11.so.1.0

# Paths of the build machine in the CMake exports, and their replacements here.
CMAKE_REWRITES = [
    # Python and NumPy headers, in the exports of every message package.
    (
        r"/opt/python/cp\d+-cp\d+/lib/python3\.\d+/site-packages/numpy/_core/include",
        numpy.get_include(),
    ),
    (r"/opt/python/cp\d+-cp\d+/include/python3\.\d+", sysconfig.get_path("include")),
    # Private dependencies of libfastdds and libtracetools are bundled: dependants do not need them.
    (r"/usr/lib64/libtinyxml2\.so;", ""),
    (r"\\\$<\\\$<BOOL:1>:OpenSSL::SSL.*?>>;", ""),
    (r"find_package\(OpenSSL REQUIRED\)", ""),
    (r'"lttng-ust;dl', '"dl'),
]
LEFTOVERS = re.compile(r'/opt/python/|/usr/lib64/|/project/|OpenSSL::|"lttng-ust')

# Sourced by colcon's setup scripts when a workspace is built on top.
LOCAL_SETUP = """\
# Made by tools/wheels/repair.py: enters this ROS 2 installation.
export ROS_DISTRO={distro} ROS_VERSION=2 ROS_PYTHON_VERSION=3
case ":${{AMENT_PREFIX_PATH:-}}:" in
  *":{prefix}:"*) ;;
  *)
    export AMENT_PREFIX_PATH="{prefix}${{AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}}"
    export PATH="{prefix}/bin:$PATH"
    export LD_LIBRARY_PATH="{prefix}/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" ;;
esac
"""


def rewrite_cmake_exports() -> None:
    """Replaces paths of the build machine. Fails if a path of an unknown kind is left."""
    for path in [*PREFIX.glob("share/**/*.cmake"), *LIB.glob("**/cmake/**/*.cmake")]:
        old = new = path.read_text()
        for pattern, replacement in CMAKE_REWRITES:
            new = re.sub(pattern, replacement, new)
        if new != old:
            path.write_text(new)
        if LEFTOVERS.search(new):
            sys.exit(f"error: {path} still names the machine that built the wheels")


def gather_bundled_libraries() -> None:
    """Puts the libraries bundled by auditwheel beside the others (their names contain a hash)."""
    for path in sorted(SITE.glob("ros_*.libs/*.so*")):
        link = LIB / path.name
        if not link.is_symlink():
            link.symlink_to(path.relative_to(LIB))


def set_run_paths() -> None:
    """Makes every library find the others, and the libraries with Python code find libpython.

    Uses DT_RPATH, not DT_RUNPATH: it also applies to libraries that are opened by name at run time
    (type supports), and the program's RPATH stays in force for our own message packages.
    """
    ros_packages = [path.parent.name for path in PREFIX.glob("share/*/package.xml")]
    modules = [path for name in ros_packages for path in SITE.glob(f"{name}/**/*.so")]
    for directory in sorted({LIB, *(path.parent for path in modules)}):
        up = "/.." * len(directory.relative_to(LIB).parts)
        files = [p for p in directory.glob("*.so*") if p.is_file() and not p.is_symlink()]
        patchelf("--force-rpath", "--set-rpath", f"$ORIGIN{up}", *files)
    patchelf("--add-needed", LIBPYTHON, *LIB.glob("lib*__rosidl_generator_py.so"))


def patchelf(*arguments: object) -> None:
    subprocess.run([PREFIX / "bin/patchelf", *map(str, arguments)], check=True)


def write_local_setup(distro: str) -> None:
    for shell in ("sh", "bash", "zsh"):
        text = LOCAL_SETUP.format(distro=distro, prefix=PREFIX)
        (PREFIX / f"local_setup.{shell}").write_text(text)


def check() -> None:
    """Checks that the loader finds all libraries of the client library and of its middleware."""
    for name in ("librcl.so", "librmw_fastrtps_cpp.so", "libtest_msgs__rosidl_generator_py.so"):
        output = subprocess.run(["ldd", "-r", LIB / name], capture_output=True, text=True)
        text = output.stdout + output.stderr
        if output.returncode or "not found" in text or "undefined symbol" in text:
            sys.exit(f"error: {name} does not load:\n{text}")


if __name__ == "__main__":
    rewrite_cmake_exports()
    gather_bundled_libraries()
    set_run_paths()
    write_local_setup(distro=sys.argv[1])
    check()
