// SPDX-License-Identifier: Apache-2.0
// A YAML file as Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace rclrt::model::detail {

/// Returns the content of a YAML file as Python objects. `kind` says in messages what file it
/// should be, such as "app.yaml". Throws ModelError with every mistake and its position, or if the
/// file is of another kind than the one named `expected`.
pybind11::object read_document(const std::filesystem::path& path, const std::string& kind,
                               const std::optional<std::string>& expected);

/// Throws ModelError if the text of the file at `path` is of another kind than the one named
/// `expected`. Does nothing if its kind is not clear or the text has mistakes, which its reader
/// reports.
void refuse_other_kind(std::string_view text, const std::filesystem::path& path,
                       const std::string& expected);

/// Returns what the file is and which command takes it; std::nullopt if that is not clear.
std::optional<std::string> described_kind(const std::filesystem::path& path);

}  // namespace rclrt::model::detail
