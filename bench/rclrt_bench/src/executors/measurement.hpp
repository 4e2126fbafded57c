// SPDX-License-Identifier: Apache-2.0
// The rows of the result, which grow from round to round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "samples.hpp"

namespace rclrt::bench {

/// The identity of a row.
struct RowKey {
  std::string name;      ///< name of the case
  std::string executor;  ///< "bare": no executor, only the kernel and the middleware
  int cpus = 1;
  std::string entity;
  int entities = 1;
  int levels = 1;

  bool operator==(const RowKey&) const = default;
};

struct Row {
  RowKey key;
  Samples latency;
  std::uint64_t lost = 0;  ///< releases, messages or triggers for which no callback ran

  // Sums over the windows of all rounds: from the first sample to the last one.
  std::uint64_t dispatches = 0;
  std::uint64_t allocations = 0;
  std::int64_t cpu_ns = 0;

  // Saturated throughput only.
  std::uint64_t handled = 0;
  std::int64_t handling_ns = 0;

  std::optional<double> system_calls;  ///< per dispatch; counted in a run of its own

  // The current round; read by the code that counts system calls.
  std::uint64_t traced_calls = 0;
};

/// The rows; their addresses do not change.
class Rows {
 public:
  /// Returns the row of `key`; creates it if there is none.
  Row& at(const RowKey& key) {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.key == key; });
    return found != rows_.end() ? *found : rows_.emplace_back(Row{.key = key});
  }
  std::deque<Row>& all() { return rows_; }
  const std::deque<Row>& all() const { return rows_; }

 private:
  std::deque<Row> rows_;
};

}  // namespace rclrt::bench
