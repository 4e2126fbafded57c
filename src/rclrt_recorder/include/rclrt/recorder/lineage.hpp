// SPDX-License-Identifier: Apache-2.0
// Which chain instances a callback worked for, when its messages do not say so themselves.
#pragma once

#include <rclrt/model/application.hpp>
#include <span>
#include <vector>

#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Gives each instance the tokens of the chain instances that it worked for: a timer's begin, those
/// of other callbacks come with the message. Who published it is who was running when it was
/// published (`LoggedInstance::published_ns`) and publishes on its topic; of several the one that
/// started last. A message that nobody of the application published brings none.
///
/// So a chain is followed as far as messages of unchanged types allow: a callback that publishes
/// what an earlier instance of its own computed passes on the wrong instance, and chains through a
/// synchronisation, or from an event, cannot be followed at all (`unfollowed`).
///
/// Sets the offsets of the timers in `application`, in the window's time, to where they really
/// were. A timer whose releases lie on no grid (it was reset, its clock is not CLOCK_MONOTONIC, or
/// its period is below 2 us) becomes one that rebases: what it skips is then not seen. So does one
/// that was released no more well before the end, or never (it was cancelled, its node is gone or
/// in another process), for it was not late for what follows.
///
/// `going_on`: per callback, whether it would have gone on at the end of the window. Of a timer
/// that would, what follows its last release counts: nobody got round to it.
RCLRT_RECORDER_EXPORT void follow_chains(model::Application& application, const RunWindow& window,
                                         std::span<LoggedInstance> instances,
                                         const std::vector<bool>& going_on);

/// Returns the chains that cannot be followed, by their index: those through a synchronisation.
RCLRT_RECORDER_EXPORT std::vector<std::size_t> unfollowed(const model::Application& application);

}  // namespace rclrt::recorder
