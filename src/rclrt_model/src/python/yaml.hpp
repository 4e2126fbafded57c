// SPDX-License-Identifier: Apache-2.0
// A YAML file as Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <string>

namespace rclrt::model::detail {

/// Returns the content of a YAML file as Python objects. `kind` says in messages what file it
/// should be, such as "app.yaml". Throws ModelError with every mistake and its position.
pybind11::object read_document(const std::filesystem::path& path, const std::string& kind);

}  // namespace rclrt::model::detail
