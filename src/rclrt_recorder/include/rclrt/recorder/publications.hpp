// SPDX-License-Identifier: Apache-2.0
// Which callbacks published the messages of a recording whose application no file states.
#pragma once

#include <rclrt/model/application.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Adds to each callback's `publishes` the topics on which it was seen to publish: as few callbacks
/// as explain the messages that were taken, those first that were running at the most publications
/// of a topic (of several alike, what ran for the shortest time in all). A callback
/// that explains less than one message in fifty, divided by the number of callbacks that may have
/// published, is a coincidence. A topic has no publisher where more than one message in fifty is
/// left: a thread outside of callbacks published these, and the callbacks' rate would be too low.
///
/// `of_node`: the topics that each node of the application has publishers of; a callback of another
/// node is not considered.
RCLRT_RECORDER_EXPORT void find_publications(model::Application& application,
                                             std::span<const LoggedInstance> instances,
                                             const std::vector<std::set<std::string>>& of_node);

}  // namespace rclrt::recorder
