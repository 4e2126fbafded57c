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

/// Finds out which callbacks publish on which topics, from the times of messages and instances, and
/// adds the topics to `publishes` of these callbacks. For each topic it chooses as few callbacks as
/// explain the messages that were taken. It first chooses the callback that was running at the most
/// publications; among equal ones, the one with the shortest total run time. A callback counts as a
/// coincidence if it explains less than one message in fifty, divided by the number of callbacks
/// that may have published. If more than two messages, and more than one in fifty, remain
/// unexplained, the topic gets no publisher: a thread outside of callbacks published them, and the
/// rate of the callbacks would be too low.
///
/// `of_node` has, for each node of the application, the topics for which the node has publishers. A
/// callback of another node is not considered.
RCLRT_RECORDER_EXPORT void find_publications(model::Application& application,
                                             std::span<const LoggedInstance> instances,
                                             const std::vector<std::set<std::string>>& of_node);

}  // namespace rclrt::recorder
