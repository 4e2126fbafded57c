// SPDX-License-Identifier: Apache-2.0
// Finds the callbacks that published the messages of a recording, if the application is in no file.
#pragma once

#include <rclrt/model/application.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder {

/// Adds to each callback's `publishes` the topics on which it was observed to publish. It chooses
/// as few callbacks as explain the taken messages: first those that ran at the most publications of
/// a topic (among equal ones, the one with the shortest total run time). A callback that explains
/// less than one message in fifty, divided by the number of callbacks that may have published, is a
/// coincidence. A topic gets no publisher if more than two messages and one in fifty remain: a
/// thread outside of callbacks published these, and the callbacks' rate would be too low.
///
/// `of_node`: the topics for which each node of the application has publishers; a callback of
/// another node is not considered.
RCLRT_RECORDER_EXPORT void find_publications(model::Application& application,
                                             std::span<const LoggedInstance> instances,
                                             const std::vector<std::set<std::string>>& of_node);

}  // namespace rclrt::recorder
