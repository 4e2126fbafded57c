// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/parse.hpp"

#include <utility>

#include "checks.hpp"
#include "rclrt/model/file_kind.hpp"
#include "reader.hpp"
#include "yaml.hpp"

namespace rclrt::model {

ParseResult parse_application(std::string_view text) {
  detail::Context context;
  ParseResult result;
  const auto root = read_yaml(text, context.diagnostics);
  if (root && !report_other_kind(*root, FileKind::kApplication, context)) {
    detail::Draft draft = detail::read_application(*root, context);
    detail::check_application(draft, context);
    if (context.diagnostics.empty()) {
      result.application = std::move(draft.application);
    }
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

Application load_application(const std::filesystem::path& file) {
  ParseResult result = parse_application(yaml::read_file(file, "app.yaml"));
  if (!result.application) {
    throw ModelError(file, result.diagnostics);
  }
  return std::move(*result.application);
}

}  // namespace rclrt::model
