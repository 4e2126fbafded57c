# SPDX-License-Identifier: Apache-2.0
# The static library needs libyaml where it is linked.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)
