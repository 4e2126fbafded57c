// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/results_writer.hpp"

#include <algorithm>
#include <locale>
#include <ostream>
#include <rclrt/model/write.hpp>
#include <span>
#include <string>
#include <utility>

#include "rclrt/realtime/replacing_file.hpp"
#include "rclrt/recorder/observed_model.hpp"

namespace rclrt::recorder {

namespace {

template <typename Fill>
void write_file(const std::filesystem::path& path, Fill&& fill) {
  realtime::ReplacingFile file(path);
  fill(file.stream());
  file.commit(false);  // the whole directory appears at once, and is not synchronised either
}

/// A field of a CSV file, in quotes where RFC 4180 requires them: names also come from users.
struct Field {
  const std::string& text;

  friend std::ostream& operator<<(std::ostream& out, const Field& field) {
    if (field.text.find_first_of("\",\r\n") == std::string::npos) {
      return out << field.text;
    }
    out << '"';
    for (const char each : field.text) {
      out << (each == '"' ? "\"" : "") << each;
    }
    return out << '"';
  }
};

/// Writes the CPUs of an instance: nothing if they are not known; `0` if it began and ended on CPU
/// 0; `0;1` if it ended on CPU 1; with the times of each part if they are known,
/// `0:1000-3000;1:4000-5000`.
void write_cpus(std::ostream& out, const RunResults& results, const InstanceRecord& record) {
  const std::span<const CpuPart> parts = parts_of(record, results.cpu_parts);
  const std::int64_t start_ns = results.window.start_ns;
  const char* separator = "";
  for (const CpuPart& part : parts) {
    out << std::exchange(separator, ";") << part.cpu << ':' << part.start_ns - start_ns << '-'
        << part.end_ns - start_ns;
  }
  if (parts.empty() && record.first_cpu != kUnknownCpu && record.last_cpu != kUnknownCpu) {
    out << record.first_cpu;
    if (record.last_cpu != record.first_cpu) {
      out << ';' << record.last_cpu;
    }
  }
}

}  // namespace

void write_chains_csv(std::ostream& out, const RunResults& results) {
  out.imbue(std::locale::classic());
  const bool has_errors = !results.hosts.hosts.empty();
  out << "chain,instance,release_ns,completion_ns,response_ns,status,host_stall_ns"
      << (has_errors ? ",error_ns\n" : "\n");
  const std::int64_t start_ns = results.window.start_ns;
  for (std::size_t chain = 0; chain < results.chains.size(); ++chain) {
    for (const ChainInstance& instance : results.chains[chain].instances) {
      out << Field{results.application.chains[chain].id} << ',' << instance.instance << ','
          << instance.release_ns - start_ns << ',';
      if (instance.completion_ns) {
        out << *instance.completion_ns - start_ns << ',' << *instance.response_ns();
      } else {
        out << ',';
      }
      out << ',' << to_string(instance.status) << ',' << instance.host_stall_ns;
      if (has_errors) {
        out << ',';
        if (instance.completion_ns) {
          out << response_error_ns(results, chain, instance);
        }
      }
      out << '\n';
    }
  }
}

void write_outputs_csv(std::ostream& out, const RunResults& results) {
  out.imbue(std::locale::classic());
  out << "chain,release_ns,end_ns,age_ns,reaction_ns\n";
  for (std::size_t i = 0; i < results.cause_effect_chains.size(); ++i) {
    for (const auto& output : results.cause_effect_chains[i].found.outputs) {
      out << Field{results.application.cause_effect_chains[i].id} << ','
          << output.release.count() - results.window.start_ns << ','
          << output.end.count() - results.window.start_ns << ',' << output.age().count() << ',';
      if (output.reaction) {
        out << output.reaction->count();
      }
      out << '\n';
    }
  }
}

void write_instances_csv(std::ostream& out, const RunResults& results) {
  out.imbue(std::locale::classic());
  out << "id,callback,priority,thread,release_ns,ready_ns,start_ns,end_ns,cpu_ns,preemptions,"
         "outcome,tokens,cpus"
      << (results.hosts.hosts.empty() ? "\n" : ",error_ns\n");
  const std::int64_t start_ns = results.window.start_ns;
  const model::Application& application = results.application;
  const std::vector<std::int64_t>& release_errors = results.hosts.release_errors_ns;
  for (std::size_t i = 0; i < results.records.size(); ++i) {
    const InstanceRecord& record = results.records[i];
    out << record.id << ',' << Field{application.callbacks[record.callback].id} << ','
        << record.level << ',' << Field{results.thread_tracks[record.thread_track]};
    for (const std::int64_t time_ns :
         {record.release_ns, record.ready_ns, record.start_ns, record.end_ns}) {
      out << ',' << time_ns - start_ns;
    }
    out << ',' << record.cpu_ns << ',' << record.preemptions << ',' << to_string(record.outcome)
        << ',';
    std::string tokens;
    for (const ChainToken& token : record.tokens.all()) {
      if (token.chain < application.chains.size()) {
        tokens += (tokens.empty() ? "" : ";") + application.chains[token.chain].id + ":" +
                  std::to_string(token.instance);
      }
    }
    out << Field{tokens} << ',';
    write_cpus(out, results, record);
    if (!results.hosts.hosts.empty()) {
      // The largest of the four times: the error is not the same at the release and at the end.
      const std::int64_t own = std::max(results.hosts.error_ns(record.callback, record.start_ns),
                                        results.hosts.error_ns(record.callback, record.end_ns));
      out << ',' << std::max(own, i < release_errors.size() ? release_errors[i] : 0);
    }
    out << '\n';
  }
}

void write_histograms_csv(std::ostream& out, const RunResults& results) {
  out.imbue(std::locale::classic());
  out << "kind,id,times,lowest_ns,highest_ns,count\n";
  const auto write = [&out](const char* kind, const std::string& id, const char* times,
                            const TimeDistribution& distribution) {
    for (const TimeDistribution::Bucket& bucket : distribution.buckets()) {
      out << kind << ',' << Field{id} << ',' << times << ',' << bucket.lowest_ns << ','
          << bucket.highest_ns << ',' << bucket.count << '\n';
    }
  };
  const StreamedStatement& streamed = results.streamed.value();
  for (std::size_t i = 0; i < streamed.responses.size(); ++i) {
    write("chain", results.application.chains[i].id, "response", streamed.responses[i]);
  }
  for (std::size_t i = 0; i < streamed.callbacks.size(); ++i) {
    const std::string& id = results.application.callbacks[i].id;
    write("callback", id, "response", streamed.callbacks[i].response);
    write("callback", id, "dispatch", streamed.callbacks[i].dispatch);
    write("callback", id, "execution", streamed.callbacks[i].execution);
  }
  for (std::size_t i = 0; i < streamed.cause_effect.size(); ++i) {
    const std::string& id = results.application.cause_effect_chains[i].id;
    write("cause_effect_chain", id, "reaction", streamed.cause_effect[i].reaction);
    write("cause_effect_chain", id, "age", streamed.cause_effect[i].age);
  }
}

void write_stalls_csv(std::ostream& out, const RunResults& results) {
  out.imbue(std::locale::classic());
  out << "cpu,start_ns,end_ns,waited_ns\n";
  const std::int64_t start_ns = results.window.start_ns;
  for (const HostStall& stall : results.host_stalls.attributable()) {
    out << stall.cpu << ',' << stall.start_ns - start_ns << ',' << stall.end_ns - start_ns << ','
        << stall.waited_ns << '\n';
  }
}

void write_results(const std::filesystem::path& directory, const RunResults& results) {
  require_consistent(results);
  const std::string json = results_json(results);
  write_file(directory / kResultsFile, [&](std::ostream& out) { out << json; });
  write_file(directory / kChainsFile, [&](std::ostream& out) { write_chains_csv(out, results); });
  if (!results.cause_effect_chains.empty()) {
    write_file(directory / kOutputsFile,
               [&](std::ostream& out) { write_outputs_csv(out, results); });
  }
  write_file(directory / kInstancesFile,
             [&](std::ostream& out) { write_instances_csv(out, results); });
  if (results.streamed) {
    write_file(directory / kHistogramsFile,
               [&](std::ostream& out) { write_histograms_csv(out, results); });
  }
  write_file(directory / kStallsFile, [&](std::ostream& out) { write_stalls_csv(out, results); });
  if (!results.simulation) {
    const std::string model = to_yaml(observed_model(results));
    write_file(directory / kModelFile, [&](std::ostream& out) { out << model; });
  }
}

}  // namespace rclrt::recorder
