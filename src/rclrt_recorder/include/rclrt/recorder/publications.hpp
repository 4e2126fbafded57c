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
/// of a topic (of several alike, what ran for the shortest time in all). What explains less than
/// one in fifty of a topic's messages is taken for a coincidence, unless nothing explains more.
///
/// `of_node`: the topics that each node of the application has publishers of; a callback of another
/// node is not considered.
RCLRT_RECORDER_EXPORT void find_publications(model::Application& application,
                                             std::span<const LoggedInstance> instances,
                                             const std::vector<std::set<std::string>>& of_node);

}  // namespace rclrt::recorder
