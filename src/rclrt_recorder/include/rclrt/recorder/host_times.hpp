// SPDX-License-Identifier: Apache-2.0
// How exactly the times of several hosts are known on one time axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// A host of a run over several hosts. Its times were mapped to the time axis of the reference
/// host.
struct HostTimes {
  /// The mapped times are wrong by at most `error_ns` at `at_ns`, a time of the common axis.
  struct Knot {
    std::int64_t at_ns = 0;
    std::int64_t error_ns = 0;
  };

  std::string name;
  std::string boot;            ///< boot_id of its kernel; empty: not known
  std::string compared_with;   ///< its clock was compared with that host's; empty: the reference
  std::vector<Knot> knots{};   ///< ascending; empty: it is the reference, and its times are exact
  std::int64_t drift_ppb = 0;  ///< how fast the error grows between the knots, in 1e-9
  /// How wrong the length of a time on this host alone may be, in 1e-9: its clock drifts, and the
  /// mapping stretches it the other way.
  std::int64_t stretch_ppb = 0;
  /// The begin and the end of what was recorded of it, on the common axis.
  RunWindow traced{std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max()};
  std::size_t cpus = 0;        ///< CPUs of an executor on it that states none; 0: as many as given
  std::uint64_t received = 0;  ///< messages of the other host, by which the clocks were compared
  std::uint64_t sent = 0;      ///< messages to the other host
  std::uint64_t samples = 0;   ///< intervals that rclrt clock measured
  // Of a host that took part in a run by an agent:
  std::string machine{};    ///< the name of the machine; empty: there was no agent
  std::uint64_t steps = 0;  ///< how often its pings contradicted each other
  std::string lost{};       ///< why it was lost during the run; empty: it was not
  /// The time of day of this host less that of the other one, at the begin and at the end: at
  /// least, at most. std::nullopt: not known.
  std::optional<std::pair<std::int64_t, std::int64_t>> first_offset_ns{};
  std::optional<std::pair<std::int64_t, std::int64_t>> last_offset_ns{};
};

/// The hosts of a run. Empty for a run on one host. Thread-safe while it does not change.
struct RCLRT_RECORDER_EXPORT HostTable {
  std::vector<HostTimes> hosts{};
  std::vector<std::size_t> of_callback{};  ///< host of each callback, if there are hosts
  /// The error of the release of each record, which may be a time of another host.
  std::vector<std::int64_t> release_errors_ns{};

  /// Returns how far a time of the callback's host may be from the truth, in either direction.
  std::int64_t error_ns(std::size_t callback, std::int64_t at_ns) const;

  /// Returns how far the time from an event of one callback to an event of another one may be from
  /// the truth, in either direction. On one host only the drift of its clock counts: 2 rho / (1 -
  /// rho) of the mapped time for a clock that is compared with the reference and drifts by rho.
  std::int64_t error_between_ns(std::size_t from, std::int64_t from_ns, std::size_t to,
                                std::int64_t to_ns) const;

  /// Returns the part of `window` in which all hosts of these callbacks were recorded. Outside of
  /// it a chain through them would seem to lose its instances.
  RunWindow window_of(const std::vector<std::size_t>& callbacks, const RunWindow& window) const;
};

}  // namespace rclrt::recorder
