// SPDX-License-Identifier: Apache-2.0
// A YAML file as Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <optional>
#include <string>

namespace rclrt::model::detail {

/// Returns the content of a YAML file as Python objects. `kind` says in messages what file it
/// should be, such as "app.yaml". Throws ModelError with every mistake and its position.
pybind11::object read_document(const std::filesystem::path& path, const std::string& kind);

/// Throws ModelError if the file is of another kind than the one named `expected`. Does nothing if
/// its kind is not clear, or the file cannot be read: that is for its reader to report.
void refuse_other_kind(const std::filesystem::path& path, const std::string& expected);

/// Returns what the file is and which command takes it; std::nullopt if that is not clear.
std::optional<std::string> described_kind(const std::filesystem::path& path);

}  // namespace rclrt::model::detail
