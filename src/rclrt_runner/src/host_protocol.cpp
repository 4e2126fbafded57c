// SPDX-License-Identifier: Apache-2.0
#include "host_protocol.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <sstream>
#include <stdexcept>

#include "byte_stream.hpp"
#include "channel.hpp"

namespace rclrt::runner {

namespace {

constexpr std::string_view kAgent = "rclrt-agent";
constexpr std::string_view kCoordinator = "rclrt-run";
/// Increase it with each change of a message.
constexpr int kProtocol = 1;
constexpr std::int64_t kLatest_ns = std::int64_t{1} << 62;
constexpr std::uint32_t kMostWorkers = 4'096;  // of a priority
constexpr const char* kByteOrder =
    std::endian::native == std::endian::little ? "little-endian" : "big-endian";

std::string versions() {
  return std::to_string(kProtocol) + " " + RCLRT_VERSION + " " + kByteOrder;
}

std::string machine_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  std::string result = ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  const auto is_odd = [](char each) { return each <= ' ' || each > '~'; };
  std::erase_if(result, is_odd);
  return result.empty() ? "unknown" : result.substr(0, Channel::kLongestLine / 4);
}

struct Greeting {
  std::string program;
  int protocol = 0;
  std::string version;
  std::string byte_order;
  std::string machine;
};

/// Reads a greeting of `program`. Throws std::runtime_error.
Greeting read_greeting(const std::string& line, std::string_view program) {
  Greeting result;
  std::istringstream words(line);
  words >> result.program >> result.protocol >> result.version >> result.byte_order >>
      result.machine;
  if (result.program != program || result.byte_order.empty()) {
    throw std::runtime_error("sends '" + printable(line) + "'; expected '" + std::string(program) +
                             " " + versions() + "'");
  }
  if (result.protocol != kProtocol || result.version != RCLRT_VERSION) {
    throw std::runtime_error("has rclrt " + printable(result.version) + " (protocol " +
                             std::to_string(result.protocol) + "), and this host " + RCLRT_VERSION +
                             " (protocol " + std::to_string(kProtocol) +
                             "); install the same version on both");
  }
  if (result.byte_order != kByteOrder) {
    throw std::runtime_error("is a " + printable(result.byte_order) +
                             " machine, and this host is " + kByteOrder +
                             "; expected machines of one byte order");
  }
  return result;
}

template <typename Stream, typename Request>
void pass_request(Stream& stream, Request& request) {
  stream(request.host);
  stream(request.application);
  stream(request.executor);
  stream(request.duration_ns);
  stream(request.strict);
  stream(request.alone);
  stream(request.domain);
}

template <typename Stream, typename Ping>
void pass_ping(Stream& stream, Ping& ping) {
  stream(ping.sequence);
  stream(ping.clocks.before_ns);
  stream(ping.clocks.monotonic_ns);
  stream(ping.clocks.after_ns);
}

template <typename Stream, typename Times>
void pass_times(Stream& stream, Times& times) {
  stream(times.difference_ns);
  stream(times.epoch_ns);
}

/// Passes everything but the tokens.
template <typename Stream, typename Instance>
void pass_instance(Stream& stream, Instance& logged) {
  auto& record = logged.record;
  stream(record.id);
  stream(record.callback);
  stream(record.level);
  stream(record.release_ns);
  stream(record.ready_ns);
  stream(record.start_ns);
  stream(record.end_ns);
  stream(record.cpu_ns);
  stream(record.preemptions);
  stream(record.first_cpu);
  stream(record.last_cpu);
  stream(record.outcome, recorder::Outcome::kEmpty);
  stream(record.input);
  stream(record.stamp_ns);
  stream(record.read_ns);
  stream(record.stored_ns);
  stream(logged.executor);
  stream(logged.slot);
  stream(logged.published_ns);
  stream(logged.publisher);
}

template <typename Value, typename Pass>
std::vector<std::byte> written(const Value& value, const Pass& pass) {
  ByteWriter writer;
  pass(writer, value);
  return writer.take();
}

template <typename Value, typename Pass>
Value read_value(std::span<const std::byte> bytes, const Pass& pass) {
  ByteReader reader(bytes);
  Value result;
  pass(reader, result);
  reader.finish();
  return result;
}

bool is_time(std::int64_t time_ns) { return time_ns >= 0 && time_ns <= kLatest_ns; }

/// Returns whether all numbers of the instance are possible.
bool is_possible(const recorder::LoggedInstance& logged, std::span<const std::size_t> own,
                 const model::Application& application) {
  const recorder::InstanceRecord& record = logged.record;
  const auto is_known = [&](std::uint32_t callback) {
    return callback < application.callbacks.size();
  };
  if (!is_known(record.callback) || application.executor_of(record.callback) != logged.executor ||
      std::ranges::find(own, logged.executor) == own.end()) {
    return false;
  }
  const std::size_t inputs = model::inputs(application.callbacks[record.callback]).size();
  return logged.slot < kMostWorkers &&
         (logged.publisher == recorder::LoggedInstance::kNobody || is_known(logged.publisher)) &&
         record.input < std::max<std::size_t>(inputs, 1) && is_time(record.release_ns) &&
         is_time(record.ready_ns) && is_time(record.start_ns) && is_time(record.end_ns) &&
         is_time(record.cpu_ns) && is_time(record.stamp_ns) && is_time(record.read_ns) &&
         is_time(record.stored_ns) && is_time(logged.published_ns) &&
         record.start_ns <= record.end_ns;
}

}  // namespace

std::string printable(std::string text, std::size_t longest) {
  std::ranges::replace_if(text, [](char each) { return each < ' ' || each > '~'; }, '?');
  return text.substr(0, longest);
}

std::string agent_greeting() {
  return std::string(kAgent) + " " + versions() + " " + machine_name();
}

std::string coordinator_greeting() { return std::string(kCoordinator) + " " + versions(); }

std::string check_agent_greeting(const std::string& line) {
  return printable(read_greeting(line, kAgent).machine);
}

void check_coordinator_greeting(const std::string& line) {
  static_cast<void>(read_greeting(line, kCoordinator));
}

std::vector<std::byte> to_bytes(const HostRequest& request) {
  return written(request, [](auto& stream, auto& value) { pass_request(stream, value); });
}

HostRequest request_of(std::span<const std::byte> bytes) {
  return read_value<HostRequest>(bytes,
                                 [](auto& stream, auto& value) { pass_request(stream, value); });
}

std::vector<std::byte> to_bytes(const HostPing& ping) {
  return written(ping, [](auto& stream, auto& value) { pass_ping(stream, value); });
}

HostPing ping_of(std::span<const std::byte> bytes) {
  return read_value<HostPing>(bytes, [](auto& stream, auto& value) { pass_ping(stream, value); });
}

std::vector<std::byte> to_bytes(const HostTimes& times) {
  return written(times, [](auto& stream, auto& value) { pass_times(stream, value); });
}

HostTimes times_of(std::span<const std::byte> bytes) {
  const auto times =
      read_value<HostTimes>(bytes, [](auto& stream, auto& value) { pass_times(stream, value); });
  const auto is_far = [](std::int64_t time_ns) {
    return time_ns < -kLatest_ns / 4 || time_ns > kLatest_ns / 4;
  };
  if (is_far(times.difference_ns) || is_far(times.epoch_ns)) {
    throw std::runtime_error("a time is out of range");
  }
  return times;
}

std::vector<std::byte> to_bytes(const std::vector<Part>& parts) {
  return written(parts, [](auto& stream, auto& value) {
    stream(value, [&](const Part& part) { pass_part(stream, part); });
  });
}

std::vector<Part> parts_of(std::span<const std::byte> bytes, std::size_t count,
                           const model::Application& application) {
  auto parts = read_value<std::vector<Part>>(bytes, [](auto& stream, auto& value) {
    stream(value, [&](Part& part) { pass_part(stream, part); });
  });
  const std::size_t callbacks = application.callbacks.size();
  const auto is_possible = [&](const Part& part) {
    return part.kernel_priorities.size() == callbacks &&
           (part.counts.empty() || part.counts.size() == callbacks) && is_time(part.ended_ns);
  };
  if (parts.size() != count || !std::ranges::all_of(parts, is_possible)) {
    throw std::runtime_error("the states of its processes are not those of this application");
  }
  constexpr std::size_t kLongest = 2'000;
  for (Part& part : parts) {
    part.rmw = printable(part.rmw);
    for (auto& state : part.realtime) {
      state.reason = printable(state.reason, kLongest);
    }
    for (auto& thread : part.threads) {
      thread.name = printable(thread.name);
      thread.process = printable(thread.process);
    }
  }
  return parts;
}

std::vector<std::byte> to_bytes(std::span<const recorder::LoggedInstance> instances) {
  ByteWriter writer;
  for (const recorder::LoggedInstance& each : instances) {
    pass_instance(writer, each);
    const auto tokens = each.record.tokens.all();
    writer(static_cast<std::uint8_t>(tokens.size()));
    for (const recorder::ChainToken& token : tokens) {
      writer(token.chain);
      writer(token.instance);
      writer(token.release_ns);
    }
  }
  return writer.take();
}

std::vector<recorder::LoggedInstance> instances_of(std::span<const std::byte> bytes,
                                                   std::span<const std::size_t> own,
                                                   const model::Application& application) {
  ByteReader reader(bytes);
  std::vector<recorder::LoggedInstance> result;
  while (!reader.is_at_end()) {
    recorder::LoggedInstance& logged = result.emplace_back();
    pass_instance(reader, logged);
    std::uint8_t tokens = 0;
    reader(tokens);
    bool is_right = is_possible(logged, own, application);
    for (; tokens > 0 && is_right; --tokens) {
      recorder::ChainToken token;
      reader(token.chain);
      reader(token.instance);
      reader(token.release_ns);
      is_right = token.chain < application.chains.size() && is_time(token.release_ns) &&
                 logged.record.tokens.add(token);
    }
    if (!is_right) {
      throw std::runtime_error("an instance is none of this application");
    }
  }
  return result;
}

}  // namespace rclrt::runner
