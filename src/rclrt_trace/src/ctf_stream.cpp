// SPDX-License-Identifier: Apache-2.0
#include "ctf_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace rclrt::trace::ctf {

namespace {

constexpr std::uint64_t kMostHeaderBytes = 64 * 1024;
/// A packet is written at once from memory, so it is not larger than a tracer's buffer.
constexpr std::uint64_t kMostPacketBytes = std::uint64_t{1} << 30U;
// How many types are visited in a packet: more than any real one has.
constexpr std::uint64_t kStepsAtLeast = 100'000;
constexpr std::uint64_t kStepsPerByte = 16;
constexpr std::uint64_t kMostLostPackets = 1U << 30U;
constexpr std::size_t kMostNotes = 5;

}  // namespace

/// The packet cannot be read any further.
class Stream::Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Stream::Stream(std::filesystem::path file, const Metadata& metadata, Choice& choice,
               SeenPackets& seen)
    : file_(std::move(file)), metadata_(metadata), choice_(choice), seen_(seen) {
  std::error_code error;
  file_size_ = std::filesystem::file_size(file_, error);
  if (error) {
    file_size_ = 0;
    note("cannot be read: " + error.message());
  }
}

/// Loads the first bytes of the packet. The file is open only meanwhile: there may be thousands.
void Stream::load(std::uint64_t bytes) {
  packet_.resize(bytes);
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(this_packet_));
  in.read(reinterpret_cast<char*>(packet_.data()), static_cast<std::streamsize>(bytes));
  if (!in && in.gcount() == 0) {
    throw Damage("cannot be read");
  }
  packet_.resize(static_cast<std::size_t>(in.gcount()));
}

void Stream::note(const std::string& what) {
  if (damage_.size() < kMostNotes) {
    damage_.push_back(file_.string() + ": " + what);
  } else if (damage_.size() == kMostNotes) {
    damage_.push_back(file_.string() + ": and more like it");
  }
}

bool Stream::next() {
  for (;;) {
    try {
      while (at_ < end_) {
        if (read_event()) {
          return true;
        }
      }
      if (!next_packet()) {
        return false;
      }
    } catch (const Damage& damage) {
      note("packet at byte " + std::to_string(this_packet_) + ": " + damage.what() +
           "; the rest of the packet is left out");
      at_ = end_ = 0;
    }
  }
}

/// Reads the next packet, up to its first event. False: there is none.
bool Stream::next_packet() {
  if (next_packet_ >= file_size_) {
    return false;
  }
  this_packet_ = next_packet_;
  const std::uint64_t left = file_size_ - this_packet_;
  next_packet_ = file_size_;  // unless the packet says where the next one is
  read_packet(left);
  return true;
}

void Stream::read_packet(std::uint64_t left) {
  load(std::min(left, kMostHeaderBytes));
  at_ = 0;
  end_ = packet_.size() * 8;
  steps_ = kStepsAtLeast;
  scope_.clear();
  if (metadata_.packet_header) {
    skip(*metadata_.packet_header);
  }
  if (const Named* const magic = find("magic"); magic != nullptr && magic->value != kStreamMagic) {
    throw Damage("no packet begins here");
  }
  if (const Named* const instance = find("stream_instance_id"); instance != nullptr) {
    instance_ = instance->value;
  }
  const Named* const stated = find("stream_id");
  const std::uint64_t id = stated != nullptr ? stated->value : 0;
  const auto found = metadata_.streams.find(id);
  if (found == metadata_.streams.end()) {
    throw Damage("a stream of kind " + std::to_string(id) + ", which the metadata does not know");
  }
  stream_ = &found->second;
  scope_.clear();
  if (stream_->packet_context) {
    skip(*stream_->packet_context);
  }
  const std::uint64_t begin = at_;
  const auto stated_or = [&](const char* name, std::uint64_t otherwise) {
    const Named* const found_size = find(name);
    return found_size != nullptr ? found_size->value : otherwise;
  };
  const std::uint64_t size = stated_or("packet_size", left * 8);
  const std::uint64_t content = stated_or("content_size", size);
  if (size % 8 != 0 || size < begin || content < begin || content > size ||
      size / 8 > kMostPacketBytes) {
    throw Damage("its sizes contradict each other");
  }
  next_packet_ = this_packet_ + size / 8;
  if (!take_packet_context()) {
    at_ = end_ = 0;  // another snapshot has it
    return;
  }
  load(std::min(left, (content + 7) / 8));
  end_ = std::min<std::uint64_t>(content, packet_.size() * 8);
  at_ = begin;
  steps_ = kStepsAtLeast + kStepsPerByte * packet_.size();
  if (left * 8 < content) {
    note("packet at byte " + std::to_string(this_packet_) + ": the file is cut off in it");
  }
}

const Stream::Named* Stream::find(std::string_view name) const {
  const auto found = std::find_if(scope_.rbegin(), scope_.rend(),
                                  [&](const Named& each) { return each.name == name; });
  return found == scope_.rend() ? nullptr : &*found;
}

/// Takes what the packet says of itself. False: it was read already.
bool Stream::take_packet_context() {
  const bool lossy_before = std::exchange(lossy_, false);
  const Named* const number = find("packet_seq_num");
  if (number != nullptr && instance_ && !metadata_.uuid.empty() &&
      !seen_.emplace(metadata_.uuid, *instance_, number->value).second) {
    return false;
  }
  if (const Named* const begin = find("timestamp_begin"); begin != nullptr) {
    clock_ = begin->value;
  }
  if (number != nullptr) {
    if (!first_packet_) {
      first_packet_ = {number->value, clock_};
    }
    if (sequence_ && number->value > *sequence_ + 1 &&
        number->value - *sequence_ < kMostLostPackets) {
      lost_packets_ += number->value - *sequence_ - 1;
      lossy_ = true;
    }
    sequence_ = number->value;
  }
  if (const Named* const cpu = find("cpu_id"); cpu != nullptr) {
    cpu_ = cpu->value;
  }
  if (const Named* const discarded = find("events_discarded"); discarded != nullptr) {
    lossy_ = lossy_ || discarded->value > discarded_.value_or(0);
    discarded_ = discarded->value;
  }
  // The count is that of the packet's end: what is lost may be missing in it, or before the next.
  gap_ = lossy_ || lossy_before;
  return true;
}

/// Reads the next event of the packet. False: it was not wanted.
bool Stream::read_event() {
  const std::uint64_t before = at_;
  scope_.clear();
  if (stream_->event_header) {
    skip(*stream_->event_header);
  }
  const Named* const stated = find("id");  // the last one: an extended header has two
  const std::uint64_t id = stated != nullptr ? stated->value : 0;
  const auto found = stream_->events.find(id);
  if (found == stream_->events.end()) {
    throw Damage("an event of kind " + std::to_string(id) + ", which the metadata does not know");
  }
  ++events_;
  event_ = &found->second;
  const Plan& plan = plan_of(*event_, *stream_);
  if (plan.wanted) {
    std::ranges::fill(numbers_, 0);
    std::ranges::for_each(texts_, [](std::string& text) { text.clear(); });
  }
  read_members(stream_->event_context.get(), plan.wanted ? &plan.of_context : nullptr);
  read_members(event_->context.get(), nullptr);
  read_members(event_->fields.get(), plan.wanted ? &plan.of_event : nullptr);
  if (at_ == before) {
    throw Damage("an event without a size");
  }
  time_ = static_cast<std::int64_t>(clock_);
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

void Stream::read_members(const Type* type, const Fields* fields) {
  if (type == nullptr) {
    return;
  }
  scope_.clear();
  if (fields == nullptr || type->kind != TypeKind::kStruct) {
    skip(*type);
    return;
  }
  align(type->align);
  for (std::size_t i = 0; i < type->members.size(); ++i) {
    const Member& member = type->members[i];
    const auto is_this = [i](const auto& wanted) { return wanted.first == i; };
    const auto number = std::ranges::find_if(fields->numbers, is_this);
    const auto text = std::ranges::find_if(fields->texts, is_this);
    if (number != fields->numbers.end() && member.type->kind == TypeKind::kInteger) {
      const std::uint64_t value = read_integer(*member.type);
      numbers_[number->second] = value;
      scope_.push_back({member.name, value, member.type.get()});
    } else if (text != fields->texts.end()) {
      read_text(*member.type, texts_[text->second]);
    } else {
      skip(*member.type, member.name);
    }
  }
}

void Stream::align(std::uint64_t bits) { at_ = (at_ + bits - 1) / bits * bits; }

std::uint64_t Stream::read_bits(const Type& type) {
  align(type.align);
  if (at_ + type.size > end_) {
    throw Damage("it ends within an event");
  }
  const unsigned char* const bytes = packet_.data() + at_ / 8;
  std::uint64_t value = 0;
  if (at_ % 8 == 0 && type.size % 8 == 0) {
    const std::uint64_t count = type.size / 8;
    for (std::uint64_t i = 0; i < count; ++i) {
      value |= std::uint64_t{bytes[type.big_endian ? count - 1 - i : i]} << (8 * i);
    }
  } else {
    // Bits of a byte are taken from the end that the byte order says.
    for (std::uint64_t i = 0; i < type.size; ++i) {
      const std::uint64_t place = at_ % 8 + i;
      const unsigned byte = bytes[place / 8];
      const std::uint64_t bit =
          type.big_endian ? byte >> (7 - place % 8) & 1U : byte >> (place % 8) & 1U;
      value = type.big_endian ? value << 1U | bit : value | bit << i;
    }
  }
  at_ += type.size;
  return value;
}

std::uint64_t Stream::read_integer(const Type& type) {
  std::uint64_t value = read_bits(type);
  if (type.is_signed && type.size < 64 && (value >> (type.size - 1) & 1U) != 0) {
    value |= ~std::uint64_t{0} << type.size;
  }
  if (type.is_clock) {
    update_time(type, value);
  }
  return value;
}

/// The time that has these lower bits and is not before the last one.
void Stream::update_time(const Type& type, std::uint64_t value) {
  if (type.size == 64) {
    if (value > kLatest_ns) {
      throw Damage("its time is beyond 70 years");
    }
    clock_ = value;
    return;
  }
  const std::uint64_t range = std::uint64_t{1} << type.size;
  std::uint64_t time = (clock_ & ~(range - 1)) | value;
  if (time < clock_) {
    time += range;
  }
  clock_ = time;
}

/// Reads past a value. Integers of structures are kept for what follows them.
void Stream::skip(const Type& type, std::string_view name) {
  if (steps_-- == 0) {
    steps_ = 0;
    throw Damage("events of so many parts that they never end");
  }
  switch (type.kind) {
    case TypeKind::kInteger:
      scope_.push_back({name, read_integer(type), &type});
      break;
    case TypeKind::kFloat:
      read_bits(type);
      break;
    case TypeKind::kString: {
      std::string ignored;
      read_text(type, ignored);
      break;
    }
    case TypeKind::kStruct:
      align(type.align);
      for (const Member& member : type.members) {
        skip(*member.type, member.name);
      }
      break;
    case TypeKind::kVariant:
      skip(chosen(type), name);
      break;
    case TypeKind::kArray:
    case TypeKind::kSequence:
      skip_list(type);
      break;
  }
}

void Stream::skip_list(const Type& type) {
  std::uint64_t count = type.count;
  if (type.kind == TypeKind::kSequence) {
    const Named* const length = find(type.length);
    if (length == nullptr) {
      throw Damage("a sequence whose length is not there");
    }
    count = length->value;
  }
  const std::size_t outside = scope_.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    skip(*type.element);
    scope_.resize(outside);
  }
}

const Type& Stream::chosen(const Type& variant) const {
  const Named* const tag = find(variant.tag);
  if (tag == nullptr) {
    throw Damage("a variant whose tag is not there");
  }
  const auto value = static_cast<std::int64_t>(tag->value);
  for (const Label& label : tag->type->labels) {
    const auto option = std::ranges::find(variant.members, label.name, &Member::name);
    if (value >= label.first && value <= label.last && option != variant.members.end()) {
      return *option->type;
    }
  }
  throw Damage("a variant whose tag has no such value");
}

/// Reads a text: a string, or an array of characters up to its first zero.
void Stream::read_text(const Type& type, std::string& store) {
  store.clear();
  if (type.kind == TypeKind::kString) {
    align(8);
    while (at_ + 8 <= end_) {
      const unsigned char byte = packet_[at_ / 8];
      at_ += 8;
      if (byte == 0) {
        return;
      }
      store.push_back(static_cast<char>(byte));
    }
    throw Damage("a text without an end");
  }
  const std::uint64_t begin = (at_ + type.align - 1) / type.align * type.align;
  skip(type);
  const bool of_bytes = type.kind == TypeKind::kArray && type.element->size == 8;
  for (std::uint64_t at = begin; of_bytes && at < at_ && packet_[at / 8] != 0; at += 8) {
    store.push_back(static_cast<char>(packet_[at / 8]));
  }
}

}  // namespace rclrt::trace::ctf
