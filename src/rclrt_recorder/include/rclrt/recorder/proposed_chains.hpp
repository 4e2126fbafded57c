// SPDX-License-Identifier: Apache-2.0
// The chains of an application that states none.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <rclrt/model/application.hpp>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// By the index of a callback: the largest age of the data of its messages at its end.
using MaxAges = std::map<std::size_t, model::Nanoseconds>;

/// Returns a callback that is on a cycle of messages; std::nullopt if there is no cycle.
RCLRT_RECORDER_EXPORT std::optional<std::size_t> find_cycle(const model::Application& application);

/// Adds chains to `application`: each path from a timer or an event to a callback without
/// subscribers, and the chains of `add_age_chains`. The deadline of a chain is the largest age of
/// its last callback; if there is none, the period of its first callback. Returns whether there are
/// more paths than a person can read; then only the first ones are added.
RCLRT_RECORDER_EXPORT bool add_proposed_chains(model::Application& application,
                                               const MaxAges& max_ages);

/// Adds each path from a timer to a callback with a largest age as a chain, with that age as its
/// deadline. Skips a path if too many chains to measure would go through one of its callbacks.
/// Returns whether a path was skipped.
RCLRT_RECORDER_EXPORT bool add_age_chains(model::Application& application, const MaxAges& max_ages);

}  // namespace rclrt::recorder
