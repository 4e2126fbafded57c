// SPDX-License-Identifier: Apache-2.0
// Finds the chain instances that a callback worked for, if its messages do not carry tokens.
#pragma once

#include <rclrt/model/application.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Gives each instance the tokens of the chain instances that it worked for. An instance of a timer
/// starts tokens; other instances get them with the message. The publisher of a message is the
/// instance that was running when the message was published (`LoggedInstance::published_ns`) and
/// that publishes on its topic; among several, the one that started last. A message from outside
/// the application has no tokens.
///
/// So a chain can be followed as far as messages of unchanged types allow. A callback that
/// publishes the result of an earlier instance of its own passes on the wrong instance. Chains
/// through a synchronisation, or from an event, cannot be followed at all (`unfollowed`).
///
/// Sets the offsets of the timers in `application`, in the window's time, to the observed ones. A
/// timer with releases that lie on no grid becomes one that rebases, so its skipped releases are
/// not counted. (It was reset, its clock is not CLOCK_MONOTONIC, or its period is below 2 us.) A
/// timer that stopped well before the end, or was never released, also becomes one that rebases,
/// because it was not late for later releases. (It was cancelled, its node is gone, or it is in
/// another process.)
///
/// `going_on`: per callback, whether it would have run on at the end of the window. For such a
/// timer the releases after its last run count: they were not served.
RCLRT_RECORDER_EXPORT void follow_chains(model::Application& application, const RunWindow& window,
                                         std::span<LoggedInstance> instances,
                                         const std::vector<bool>& going_on);

/// Returns the chains that cannot be followed, by their index: those through a synchronisation.
RCLRT_RECORDER_EXPORT std::vector<std::size_t> unfollowed(const model::Application& application);

}  // namespace rclrt::recorder
