// SPDX-License-Identifier: Apache-2.0
#include "trace_files.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "ctf_metadata.hpp"
#include "trace_reader.hpp"

namespace rclrt::trace {

namespace {

namespace fs = std::filesystem;

constexpr const char* kMetadata = "metadata";
/// The last event that the metadata of rclrt's own scheduling events declares.
constexpr std::string_view kLastOfScheduling = "rclrt:thread_switches_lost";
constexpr const char* kAgain =
    "\n  fix: copy the trace again, or record it again; a session that was not stopped or a full "
    "disk leaves such a file";

/// Returns whether the file begins like a stream of CTF, or like LTTng's index of a stream.
bool is_stream_or_index(const fs::path& file) {
  std::array<char, 4> found{};
  std::ifstream in(file, std::ios::binary);
  in.read(found.data(), found.size());
  const std::string_view begin(found.data(), found.size());
  return begin == "\xC1\x1F\xFC\xC1" || begin == "\xC1\xFC\x1F\xC1" || begin == "\xC1\xF1\xDC\xC1";
}

[[noreturn]] void refuse_without_metadata(const fs::path& trace, const fs::path& stream) {
  throw TraceError(trace.string() + ": has no file \"metadata\", but " + stream.string() +
                   " is of a trace; without the metadata it cannot be read" + kAgain);
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  if (!in) {
    throw TraceError(file.string() + ": cannot be read; expected the metadata of a trace");
  }
  if (in.peek() != std::ifstream::traits_type::eof()) {
    content << in.rdbuf();
  }
  return content.str();
}

/// Throws MetadataError if declarations that every trace needs are missing. The metadata then ends
/// between two declarations, so it is cut off although it is valid.
void require_declarations(const ctf::Metadata& metadata) {
  if (metadata.streams.empty()) {
    throw ctf::MetadataError("declares no stream: it is cut off");
  }
  if (metadata.domain == "scheduling") {
    const auto is_last = [](const auto& event) { return event.second.name == kLastOfScheduling; };
    const auto& events = metadata.streams.begin()->second.events;
    if (std::ranges::none_of(events, is_last)) {
      throw ctf::MetadataError("does not declare " + std::string(kLastOfScheduling) +
                               ": it is cut off");
    }
  }
}

}  // namespace

std::vector<fs::path> find_traces(const fs::path& directory) {
  std::set<fs::path> result;
  try {
    if (fs::is_regular_file(directory / kMetadata)) {
      result.insert(directory);
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_directory() && fs::is_regular_file(entry.path() / kMetadata)) {
        result.insert(entry.path());
      } else if (entry.is_regular_file() && is_stream_or_index(entry.path())) {
        const fs::path parent = entry.path().parent_path();
        const fs::path trace = parent.filename() == "index" ? parent.parent_path() : parent;
        if (!fs::is_regular_file(trace / kMetadata)) {
          refuse_without_metadata(trace, entry.path());
        }
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw TraceError(directory.string() + ": " + error.code().message());
  }
  if (result.empty()) {
    throw TraceError(directory.string() +
                     ": no LTTng trace here or below; expected a directory that has a file "
                     "\"metadata\"");
  }
  return {result.begin(), result.end()};
}

std::vector<fs::path> find_streams(const fs::path& trace) {
  std::vector<fs::path> result;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(trace)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && name != kMetadata && !name.starts_with(".")) {
        result.push_back(entry.path());
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw TraceError(trace.string() + ": " + error.code().message());
  }
  std::sort(result.begin(), result.end());
  return result;
}

ctf::Metadata read_metadata(const fs::path& trace, const std::vector<fs::path>& streams) {
  const fs::path file = trace / kMetadata;
  try {
    const std::string content = content_of(file);
    ctf::Metadata metadata = ctf::parse_metadata(ctf::metadata_text(content));
    metadata.may_be_cut = ctf::may_be_cut(content);
    if (!streams.empty()) {
      require_declarations(metadata);
    }
    return metadata;
  } catch (const ctf::MetadataError& error) {
    const std::string what = error.what();
    const bool says_fix = what.find("\n  fix: ") != std::string::npos;
    throw TraceError(file.string() + ": " + what +
                     (says_fix ? ""
                               : std::string("\n  the metadata is cut off or damaged, or is not of "
                                             "a trace in CTF 1.8") +
                                     kAgain));
  }
}

}  // namespace rclrt::trace
