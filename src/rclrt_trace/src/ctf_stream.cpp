// SPDX-License-Identifier: Apache-2.0
#include "ctf_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>

namespace rclrt::trace::ctf {

namespace {

constexpr std::uint64_t kMostHeaderBytes = 64 * 1024;
constexpr std::uint64_t kWindowBytes = 2 * kMostHeaderBytes;
/// Upper bound of a packet: a tracer writes it from memory at once, so its buffer bounds the size.
constexpr std::uint64_t kMostPacketBytes = std::uint64_t{1} << 30U;
// Limit of the types visited in a packet, which no real packet reaches.
constexpr std::uint64_t kStepsAtLeast = 100'000;
constexpr std::uint64_t kStepsPerByte = 16;
constexpr std::size_t kMostNotes = 5;

}  // namespace

Stream::Stream(std::filesystem::path file, const Metadata& metadata, Choice& choice,
               SeenPackets& seen)
    : file_(std::move(file)), metadata_(metadata), choice_(choice), seen_(seen) {
  std::error_code error;
  file_size_ = std::filesystem::file_size(file_, error);
  if (error) {
    file_size_ = 0;
    note("cannot be read: " + error.message());
    return;
  }
  if (file_size_ == 0) {
    note("is empty: nothing was recorded, or what was recorded could not be written");
  }
  compare_with_index();
}

/// Loads `bytes` bytes of the file from the begin of the current packet. The file is open only
/// during the read, because a trace may have thousands of files. One read is enough for many small
/// packets.
void Stream::load(std::uint64_t bytes) {
  if (this_packet_ < window_at_ || this_packet_ - window_at_ > window_.size() ||
      window_.size() - (this_packet_ - window_at_) < bytes) {
    window_.resize(std::min(std::max(bytes, kWindowBytes), file_size_ - this_packet_));
    window_at_ = this_packet_;
    std::ifstream in(file_, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(this_packet_));
    in.read(reinterpret_cast<char*>(window_.data()), static_cast<std::streamsize>(window_.size()));
    window_.resize(static_cast<std::size_t>(in.gcount()));
    if (!in && in.gcount() == 0) {
      packet_ = {};
      throw Damage("cannot be read");
    }
  }
  packet_ = std::span(window_).subspan(this_packet_ - window_at_);
  packet_ = packet_.first(std::min<std::uint64_t>(packet_.size(), bytes));
}

void Stream::let_go_of_bytes() {
  loaded_ = packet_.size();
  packet_ = {};
  window_ = {};
}

void Stream::note(const std::string& what) {
  ++damaged_places_;
  if (damage_.size() < kMostNotes) {
    damage_.push_back(file_.string() + ": " + what);
  } else if (damage_.size() == kMostNotes) {
    damage_.push_back(file_.string() + ": and more like it");
  }
}

bool Stream::next() {
  for (;;) {
    try {
      if (at_ < end_ && packet_.empty()) {
        load(loaded_);
      }
      while (at_ < end_) {
        if (read_event()) {
          return true;
        }
      }
      if (!next_packet()) {
        return false;
      }
    } catch (const Damage& damage) {
      std::string what = "packet at byte " + std::to_string(this_packet_) + ": " + damage.what();
      if (next_is_known_) {
        what += "; the rest of the packet is left out";
      } else if (find_packet_after(this_packet_)) {
        what += "; the next packet begins at byte " + std::to_string(next_packet_);
      } else {
        what += "; the rest of the file is left out";
        is_cut_off_ = true;
      }
      note(what);
      at_ = end_ = 0;
    }
  }
}

/// Reads the next packet, up to its first event. Returns false if there is none.
bool Stream::next_packet() {
  if (next_packet_ >= file_size_) {
    return false;
  }
  this_packet_ = next_packet_;
  const std::uint64_t left = file_size_ - this_packet_;
  next_packet_ = file_size_;
  next_is_known_ = false;
  read_packet(left);
  return true;
}

void Stream::read_packet(std::uint64_t left) {
  load(std::min(left, kMostHeaderBytes));
  at_ = 0;
  end_ = packet_.size() * 8;
  steps_ = kStepsAtLeast;
  scope_.clear();
  read_packet_header();
  stream_ = &find_stream_class();
  read_packet_context();
  const std::uint64_t begin = at_;
  const auto stated_or = [&](const char* name, std::uint64_t otherwise) {
    const Named* const found_size = find(Scope::kPacketContext, name);
    return found_size != nullptr ? found_size->value : otherwise;
  };
  const std::uint64_t size = stated_or("packet_size", stated_or("content_size", left * 8));
  const std::uint64_t content = stated_or("content_size", size);
  if (size % 8 != 0 || size < begin || content < begin || content > size ||
      size / 8 > kMostPacketBytes) {
    throw Damage("its sizes contradict each other");
  }
  next_packet_ = this_packet_ + size / 8;
  next_is_known_ = true;
  if (!take_packet_context()) {
    at_ = end_ = 0;  // read already from another snapshot
    return;
  }
  load(std::min(left, (content + 7) / 8));
  end_ = std::min<std::uint64_t>(content, packet_.size() * 8);
  at_ = begin;
  steps_ = kStepsAtLeast + kStepsPerByte * packet_.size();
  packets_ += content > begin ? 1 : 0;
  if (left * 8 < content) {
    is_cut_off_ = true;
    note("packet at byte " + std::to_string(this_packet_) + ": the file is cut off in it");
  }
}

void Stream::read_packet_header() {
  enter(Scope::kPacketHeader);
  if (metadata_.packet_header == nullptr) {
    return;
  }
  const Type& header = *metadata_.packet_header;
  align(header.align);
  for (const Member& member : header.members) {
    const std::uint64_t begin =
        (at_ + member.type->align - 1) / member.type->align * member.type->align;
    skip(*member.type, member.name);
    if (member.name == "uuid" && at_ - begin == 16 * 8 && begin % 8 == 0) {
      check_uuid(begin);
    }
    if (const Named* const magic = find(Scope::kPacketHeader, "magic");
        magic != nullptr && magic->value != kStreamMagic) {
      throw Damage("no packet begins here");
    }
  }
  if (const Named* const instance = find(Scope::kPacketHeader, "stream_instance_id");
      instance != nullptr) {
    instance_ = instance->value;
  }
}

const StreamClass& Stream::find_stream_class() {
  const Named* const stated = find(Scope::kPacketHeader, "stream_id");
  if (stated == nullptr && metadata_.streams.size() == 1) {
    return metadata_.streams.begin()->second;
  }
  const std::uint64_t id = stated != nullptr ? stated->value : 0;
  const auto found = metadata_.streams.find(id);
  if (found == metadata_.streams.end()) {
    ++packets_;
    ++undeclared_;
    throw Damage("a stream with the id " + std::to_string(id) +
                 ", which the metadata does not declare");
  }
  return found->second;
}

/// Reads the context of the packet, and restores the clock afterwards: the times in the context are
/// not times of events. Only take_packet_context() sets the clock, to the begin of the packet.
void Stream::read_packet_context() {
  enter(Scope::kPacketContext);
  const std::uint64_t before = clock_;
  if (stream_->packet_context) {
    skip_members(*stream_->packet_context);
  }
  clock_ = before;
}

/// Returns the time of the clock in ns.
std::int64_t Stream::nanoseconds() const {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t frequency = metadata_.clock_frequency;
  if (clock_ / frequency > kLatest_ns / kSecond) {
    throw Damage("its time is more than 70 years");
  }
  return static_cast<std::int64_t>(clock_ / frequency * kSecond +
                                   clock_ % frequency * kSecond / frequency);
}

/// Processes the packet's context. Returns false if the packet was read already.
bool Stream::take_packet_context() {
  const bool lossy_before = std::exchange(lossy_, false);
  take_losses();
  // The loss count is taken at the packet's end: events may be missing in this packet or after it.
  gap_ = gap_ || lossy_ || lossy_before;
  const Named* const number = find(Scope::kPacketContext, "packet_seq_num");
  if (number != nullptr && instance_ && !metadata_.uuid.empty() &&
      !seen_.emplace(metadata_.uuid, *instance_, number->value).second) {
    return false;
  }
  if (const Named* const begin = find(Scope::kPacketContext, "timestamp_begin"); begin != nullptr) {
    // A begin with fewer bits than the clock continues from the previous packet's time.
    if (begin->type->is_clock && begin->type->size < 64) {
      update_time(*begin->type, begin->value);
    } else {
      clock_ = begin->value;
    }
  }
  if (number != nullptr && !first_packet_) {
    first_packet_ = {number->value, clock_};
  }
  if (const Named* const cpu = find(Scope::kPacketContext, "cpu_id"); cpu != nullptr) {
    cpu_ = cpu->value;
  }
  return true;
}

/// Finds out what was lost since the packet before. A packet that another file has, too, counts as
/// well: it is not missing.
void Stream::take_losses() {
  if (const Named* const number = find(Scope::kPacketContext, "packet_seq_num");
      number != nullptr) {
    if (sequence_ && number->value > *sequence_ + 1 &&
        number->value - *sequence_ < kMostLostPackets) {
      lost_packets_ += number->value - *sequence_ - 1;
      lossy_ = true;
    }
    sequence_ = number->value;
  }
  if (const Named* const discarded = find(Scope::kPacketContext, "events_discarded");
      discarded != nullptr) {
    lossy_ = lossy_ || (discarded_ && discarded->value > *discarded_);
    first_discarded_ = first_discarded_ ? first_discarded_ : discarded->value;
    discarded_ = discarded->value;
  }
}

/// Reads the next event of the packet. Returns false if it was not chosen.
bool Stream::read_event() {
  const std::uint64_t before = at_;
  enter(Scope::kEventHeader);
  if (stream_->event_header) {
    skip_members(*stream_->event_header);
  }
  const Named* const stated =
      find(Scope::kEventHeader, "id");  // the last: an extended header has two ids
  const bool is_only = stated == nullptr && stream_->events.size() == 1;
  const std::uint64_t id = stated != nullptr ? stated->value : 0;
  const auto found = is_only ? stream_->events.begin() : stream_->events.find(id);
  if (found == stream_->events.end()) {
    ++undeclared_;
    throw Damage("an event with the id " + std::to_string(id) +
                 ", which the metadata does not declare");
  }
  ++events_;
  event_ = &found->second;
  const Plan& plan = plan_of(*event_, *stream_);
  if (plan.wanted) {
    std::ranges::fill(numbers_, 0);
    std::ranges::for_each(texts_, [](std::string& text) { text.clear(); });
    std::ranges::for_each(lists_, [](auto& list) { list.clear(); });
  }
  read_members(Scope::kStreamEventContext, stream_->event_context.get(),
               plan.wanted ? &plan.of_context : nullptr);
  read_members(Scope::kEventContext, event_->context.get(), nullptr);
  read_members(Scope::kEventFields, event_->fields.get(), plan.wanted ? &plan.of_event : nullptr);
  if (at_ == before) {
    throw Damage("an event without a size");
  }
  time_ = nanoseconds();
  if (plan.wanted) {
    after_gap_ = std::exchange(gap_, false);
  }
  return plan.wanted;
}

const Stream::Plan& Stream::plan_of(const EventClass& event, const StreamClass& stream) {
  const auto [found, fresh] = plans_.try_emplace(&event);
  if (fresh) {
    Plan& plan = found->second;
    plan.wanted = choice_.choose(event, stream.event_context.get(), plan.of_context, plan.of_event);
  }
  return found->second;
}

void Stream::read_members(Scope scope, const Type* type, const Fields* fields) {
  if (type == nullptr) {
    return;
  }
  enter(scope);
  if (fields == nullptr || type->kind != TypeKind::kStruct) {
    skip_members(*type);
    return;
  }
  align(type->align);
  for (std::size_t i = 0; i < type->members.size(); ++i) {
    const Member& member = type->members[i];
    const auto is_this = [i](const auto& wanted) { return wanted.first == i; };
    const auto number = std::ranges::find_if(fields->numbers, is_this);
    const auto text = std::ranges::find_if(fields->texts, is_this);
    const auto list = std::ranges::find_if(fields->lists, is_this);
    if (number != fields->numbers.end() && member.type->kind == TypeKind::kInteger) {
      const std::uint64_t value = read_integer(*member.type);
      numbers_[number->second] = value;
      scope_.push_back({member.name, value, member.type.get(), 0});
    } else if (text != fields->texts.end()) {
      read_text(*member.type, texts_[text->second]);
    } else if (list != fields->lists.end()) {
      read_list(*member.type, lists_[list->second]);
    } else {
      skip(*member.type, member.name);
    }
  }
}

}  // namespace rclrt::trace::ctf
