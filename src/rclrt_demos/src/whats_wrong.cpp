// SPDX-License-Identifier: Apache-2.0
// What is wrong with this code? Small pieces that are common in control loops, what RtGuard reports
// about each, and how to do it instead.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <rclrt/realtime/mutex.hpp>
#include <rclrt/realtime/rt_guard.hpp>
#include <rclrt/text/options.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace rt = rclrt::realtime;
namespace text = rclrt::text;
using namespace std::chrono_literals;

constexpr int kWrongAnswer = 1;
constexpr int kBadInput = 2;

/// Keeps the compiler from removing the computation of `value`.
template <typename T>
void use(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

double g_position = 0.6;

// Each pair of functions is a common piece of code and its real-time safe replacement. Static
// objects of the replacements are made by the first call, at set-up, which is not checked.

void grow_a_vector() {
  std::vector<double> samples;
  samples.push_back(g_position);
  use(samples);
}
void fill_a_reserved_vector() {
  static auto samples = [] {
    std::vector<double> made;
    made.reserve(1000);
    return made;
  }();
  samples.clear();
  samples.push_back(g_position);
  use(samples);
}

void build_a_string() {
  const std::string text = "the pendulum is at " + std::to_string(g_position) + " rad";
  use(text);
}
void print_into_an_array() {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "the pendulum is at %f rad", g_position);
  use(text);
}

void print_to_a_stream() {
  std::ostringstream out;
  out << "the pendulum is at " << g_position << " rad\n";
  use(out);
}

void store_a_function() {
  const std::array<double, 8> gains{1, 2, 3};
  const std::function<double(double)> law = [gains](double error) { return gains[0] * error; };
  use(law);
}
void pass_a_function() {
  const std::array<double, 8> gains{1, 2, 3};
  const auto law = [gains](double error) { return gains[0] * error; };
  use(law);
}

void make_a_shared_pointer() {
  const auto message = std::make_shared<double>(g_position);
  use(message);
}
void reuse_a_message() {
  static const auto kMessage = std::make_shared<double>();
  *kMessage = g_position;
  use(kMessage);
}

double checked(double position) {
  if (position > 0) {
    throw std::out_of_range("position");
  }
  return position;
}
void throw_an_exception() {
  try {
    use(checked(g_position));
  } catch (const std::out_of_range& error) {
    use(error);
  }
}
std::optional<double> checked_without_throwing(double position) {
  return position > 0 ? std::nullopt : std::optional(position);
}
void return_no_value() { use(checked_without_throwing(g_position)); }

void take_a_mutex() {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  g_position = 0.6;
}
void take_a_pi_mutex() {
  static rt::PiMutex mutex;
  const std::scoped_lock lock(mutex);
  g_position = 0.6;
}

void sleep_a_while() { std::this_thread::sleep_for(1us); }
void look_again_next_cycle() {
  static bool ready = false;
  use(ready);
}

/// Returns memory that the kernel has reserved and no code has touched.
char* fresh_page() {
  void* const page = mmap(nullptr, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
                          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    throw std::runtime_error("mmap: there is no memory");
  }
  return static_cast<char*>(page);
}
char* g_page = nullptr;  // made before the guarded call
void touch_fresh_memory() { *g_page = 1; }
void touch_locked_memory() { *g_page = 2; }

struct Piece {
  const char* name;
  const char* code;  ///< the common code
  void (*wrong)();
  const char* advice;  ///< the replacement
  void (*right)();
};

constexpr std::array kPieces{
    Piece{"allocation", "samples.push_back(position);", grow_a_vector,
          "make room at set-up: samples.reserve(n)", fill_a_reserved_vector},
    Piece{"string", "text = \"the pendulum is at \" + std::to_string(position);", build_a_string,
          "format into an array, or use rclrt's logging, which formats in another thread",
          print_into_an_array},
    Piece{"iostream", "out << \"the pendulum is at \" << position << \" rad\\n\";",
          print_to_a_stream, "as with strings; writing to a terminal or file may block besides",
          print_into_an_array},
    Piece{"function", "std::function<double(double)> law = [gains](double error) { ... };",
          store_a_function, "take the callable as a template parameter, or make it at set-up",
          pass_a_function},
    Piece{"shared_ptr", "auto message = std::make_shared<Message>();", make_a_shared_pointer,
          "make the message at set-up and use it again", reuse_a_message},
    Piece{"exception", "throw std::out_of_range(\"position\");", throw_an_exception,
          "return what is wrong: std::optional, an enum", return_no_value},
    Piece{"lock", "std::scoped_lock lock(std_mutex);", take_a_mutex,
          "use an atomic, a lock-free queue, or rclrt's PiMutex", take_a_pi_mutex},
    Piece{"sleep", "std::this_thread::sleep_for(1us);  // until the device is ready", sleep_a_while,
          "look again in the next cycle", look_again_next_cycle},
    Piece{"page_fault", "buffer[0] = 1;  // for the first time", touch_fresh_memory,
          "lock the memory and touch it at set-up: rclrt's prepare_process, prefault_heap",
          touch_locked_memory},
};

bool is_about_memory(const Piece& piece) { return piece.wrong == touch_fresh_memory; }

/// Returns RtGuard's report about one call.
rt::RtReport report_of(void (*piece)(), bool page_faults) {
  const rt::RtGuard guard(
      {.action = rt::RtGuardAction::kCount, .free_locks = true, .page_faults = page_faults});
  piece();
  return guard.report();
}

void print(const rt::RtReport& report, bool page_faults) {
  std::printf("    RtGuard: ");
  if (report.clean()) {
    std::printf("no violation\n");
    return;
  }
  auto say = [first = true](std::uint64_t number, const char* what) mutable {
    if (number != 0) {
      std::printf("%s%llu %s", first ? "" : ", ", static_cast<unsigned long long>(number), what);
      first = false;
    }
  };
  say(report.allocations, "allocation(s)");
  say(report.deallocations, "deallocation(s)");
  say(report.lock_waits, "wait(s) for a lock without inheritance");
  say(report.free_locks, "lock(s) without inheritance taken");
  say(report.sleeps, "sleep(s)");
  say(page_faults ? report.minor_faults + report.major_faults : 0, "page fault(s)");
  std::printf("%s%s\n", report.calls.empty() ? "" : "; the first call is ",
              report.calls.empty() ? "" : report.calls.front().what.c_str());
}

/// Shows a piece. Returns whether RtGuard distinguishes wrong from right.
bool show(const Piece& piece) {
  const bool page_faults = is_about_memory(piece);
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::printf("%s\n  wrong: %s\n", piece.name, piece.code);
  g_page = fresh_page();
  if (!page_faults) {
    piece.wrong();  // effects of the first call only do not count
  }
  const rt::RtReport wrong = report_of(piece.wrong, page_faults);
  print(wrong, page_faults);

  std::printf("  right: %s\n", piece.advice);
  const bool locked = mlock(g_page, size) == 0;
  piece.right();
  const rt::RtReport right = report_of(piece.right, page_faults);
  print(right, page_faults);
  munmap(g_page, size);
  // The kernel may take away memory that is not locked, at any time.
  return !wrong.clean() && (right.clean() || (page_faults && !locked));
}

int show_all(const std::vector<std::string>& names) {
  bool as_expected = true;
  for (const Piece& piece : kPieces) {
    if (names.empty() || std::find(names.begin(), names.end(), piece.name) != names.end()) {
      as_expected = show(piece) && as_expected;
    }
  }
  return as_expected ? 0 : kWrongAnswer;
}

text::OptionTable option_table(std::vector<std::string>& names) {
  std::string all;
  std::string lines;
  for (const Piece& piece : kPieces) {
    all += (all.empty() ? "one of " : ", ") + std::string(piece.name);
    lines += "  " + std::string(piece.name) + ": " + piece.code + "\n";
  }
  text::Option pieces = text::custom(
      "PIECE", {}, all,
      [&names](std::string_view given) {
        names.emplace_back(given);
        return std::any_of(kPieces.begin(), kPieces.end(),
                           [&](const Piece& piece) { return given == piece.name; });
      },
      "only these, not all of them");
  pieces.repeats = true;
  return {
      .program = "whats_wrong",
      .purpose =
          "Runs pieces of code that do not belong in a real-time loop, and prints what "
          "RtGuard\nsees:\n\n" +
          lines,
      .operands = {std::move(pieces)},
      .notes = "exit code: 0 done, 1 RtGuard missed a fault or reported correct code, 2 bad input",
  };
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  try {
    if (const auto parsed = text::parse_options(option_table(names), argc, argv); parsed.answer) {
      std::fputs(parsed.answer->c_str(), stdout);
      return 0;
    }
  } catch (const text::UsageError& error) {
    std::fprintf(stderr, "whats_wrong: %s\n", error.what());
    return kBadInput;
  }
  if (const char* const reason = rt::RtGuard::blind()) {
    std::printf("RtGuard does not see calls in this build: %s\n", reason);
    return 0;
  }
  return show_all(names);
}
