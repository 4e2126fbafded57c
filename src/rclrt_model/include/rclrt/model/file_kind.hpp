// SPDX-License-Identifier: Apache-2.0
// Tells apart the kinds of files that commands of rclrt read and write, in YAML or JSON. A file of
// the wrong kind is one message, which names its kind and the command that takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/document.hpp"
#include "rclrt/yaml/fields.hpp"

namespace rclrt::model {

/// A kind of file.
enum class FileKind : std::uint8_t {
  kApplication,         ///< an app.yaml
  kRobot,               ///< a robot.yaml, or a node priorities file
  kHost,                ///< a file with all processes of a host
  kPriorities,          ///< the priorities of an application's callbacks
  kOverheads,           ///< of rclrt calibrate
  kCounterExample,      ///< a schedule of an application
  kTaskSet,             ///< tasks with periods and deadlines
  kTaskCounterExample,  ///< a schedule of a task set
  kRules,               ///< of rclrt generate
  kExperiment,          ///< of rclrt experiment
  kWorkloads,           ///< of rclrt workloads calibrate
  kLink,                ///< of rclrt calibrate --peer
  kResults,             ///< the results.json of a run, a simulation or a recording
  kComparison,          ///< the results.json of rclrt compare
  kBenchmark,           ///< of rclrt bench
  kLatencies,           ///< of rclrt latency
  kClocks,              ///< of rclrt clock
};

/// Returns the kind of which the file has keys; std::nullopt if these do not show one kind only.
RCLRT_MODEL_EXPORT std::optional<FileKind> file_kind(const yaml::Node& root);

/// Returns what a file of this kind is and which command takes it: "a task set, for `rclrt analyze
/// FILE`".
RCLRT_MODEL_EXPORT std::string describe(FileKind kind);

/// Reports a file of another kind than the expected one by one diagnostic with both kinds, and
/// returns true. Returns false if the file has the expected kind, or if its keys do not show its
/// kind.
RCLRT_MODEL_EXPORT bool report_other_kind(const yaml::Node& root, FileKind expected,
                                          yaml::Context& context);

/// Returns the kind with this name, such as "counter_example". Throws std::invalid_argument.
RCLRT_MODEL_EXPORT FileKind file_kind_named(std::string_view name);

}  // namespace rclrt::model
