// SPDX-License-Identifier: Apache-2.0
// The C++ side of histogram_log_test.py.
// Usage: histogram_log_sample write FILE  records the values on standard input, a log line for each
//                                         line of input, and prints what it then knows of them
//        histogram_log_sample read FILE   prints what a log holds
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include "rclrt/realtime/histogram_log.hpp"

namespace {

using namespace rclrt::realtime;

/// Prints one JSON object in one line.
void print(const HistogramInterval& interval) {
  const Histogram& histogram = interval.histogram;
  std::cout << std::setprecision(17) << "{\"tag\":\"" << interval.tag
            << "\",\"start_ns\":" << interval.start_ns << ",\"length_ns\":" << interval.length_ns
            << ",\"count\":" << histogram.count() << ",\"min\":" << histogram.min()
            << ",\"max\":" << histogram.max() << ",\"mean\":" << histogram.mean()
            << ",\"stddev\":" << histogram.standard_deviation() << ",\"percentiles\":{";
  const char* comma = "";
  for (const double percent : {0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0}) {
    std::cout << comma << "\"" << std::setprecision(4) << percent << std::setprecision(17)
              << "\":" << histogram.percentile(percent);
    comma = ",";
  }
  std::cout << "},\"counts\":{";
  comma = "";
  for (std::size_t i = 0; i < histogram.buckets().size(); ++i) {
    if (histogram.count_in(i) != 0) {
      std::cout << comma << "\"" << i << "\":" << histogram.count_in(i);
      comma = ",";
    }
  }
  std::cout << "}}\n";
}

void write(const std::string& path) {
  std::ofstream file(path);
  HistogramLogWriter log(file, 1'763'800'000'000'000'000);
  std::string line;
  for (std::int64_t number = 0; std::getline(std::cin, line); ++number) {
    HistogramInterval interval{"line" + std::to_string(number),
                               1'763'800'000'000'000'000 + number * 1'000'000'000, 1'000'000'000,
                               Histogram()};
    std::istringstream values(line);
    for (std::int64_t value = 0; values >> value;) {
      interval.histogram.record(value);
    }
    log.write(interval);
    print(interval);
  }
}

void read(const std::string& path) {
  std::ifstream file(path);
  HistogramLogReader log(file, path);
  while (const auto interval = log.next()) {
    print(*interval);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: histogram_log_sample write|read FILE\n";
    return 2;
  }
  try {
    std::string(argv[1]) == "write" ? write(argv[2]) : read(argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
