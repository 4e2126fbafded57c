// SPDX-License-Identifier: Apache-2.0
// What rclrt has to know of the middleware that runs, because rmw leaves it open. The tests in
// test/middleware check it; docs/results/middlewares.md shows it.
#pragma once

namespace rclrt::detail {

/// Returns whether the middleware counts a publisher and a subscription of one context as matched
/// although the subscription ignores publications of its context. Fast DDS does, Cyclone DDS does
/// not. An unknown middleware does not, as far as this function knows: then no message is kept from
/// a subscription outside. Thread-safe.
bool counts_ignored_matches() noexcept;

/// Returns whether the middleware reports the incompatible QoS of such a pair. It is the same set
/// of middlewares: one that never looks at the pair does neither. Thread-safe.
inline bool reports_ignored_mismatches() noexcept { return counts_ignored_matches(); }

}  // namespace rclrt::detail
