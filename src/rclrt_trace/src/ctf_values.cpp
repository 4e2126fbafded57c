// SPDX-License-Identifier: Apache-2.0
// Values within a packet: integers, texts, structures, and the fields to which they refer.
#include <algorithm>
#include <cstdint>

#include "ctf_stream.hpp"

namespace rclrt::trace::ctf {

/// Begins a scope: the next values belong to it. Clears the scopes after it.
void Stream::enter(Scope scope) {
  const auto place = static_cast<std::size_t>(scope);
  // Drops the fields of the previous event from this scope on.
  scope_.resize(place > static_cast<std::size_t>(current_) ? scope_.size() : scope_begin_[place]);
  std::fill(scope_begin_.begin() + static_cast<std::ptrdiff_t>(place), scope_begin_.end(),
            scope_.size());
  current_ = scope;
  depth_ = 0;
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
    // The byte order decides from which end the bits of a byte are taken.
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

/// Sets the clock to the earliest time with these lower bits that is not before the last time.
void Stream::update_time(const Type& type, std::uint64_t value) {
  if (type.size == 64) {
    if (value > kLatest_ns) {
      throw Damage("its time is more than 70 years");
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

/// Returns the last integer of this name in a scope, in any structure.
const Stream::Named* Stream::find(Scope scope, std::string_view name) const {
  const auto place = static_cast<std::size_t>(scope);
  const std::size_t end = scope == current_ ? scope_.size() : scope_begin_[place + 1];
  for (std::size_t i = end; i > scope_begin_[place]; --i) {
    if (scope_[i - 1].name == name && scope_[i - 1].type != nullptr) {
      return &scope_[i - 1];
    }
  }
  return nullptr;
}

/// Looks up the integer to which a length or a tag of the current field refers.
const Stream::Named* Stream::find(const Reference& reference) const {
  if (reference.scope) {
    return *reference.scope > current_ ? nullptr : find_within(*reference.scope, reference.path, 0);
  }
  for (std::size_t place = static_cast<std::size_t>(current_) + 1; place > 0; --place) {
    const auto scope = static_cast<Scope>(place - 1);
    const Named* const found = find_within(scope, reference.path, scope == current_ ? depth_ : 0);
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

/// Searches a name backwards: first in the structure at `depth`, from its last member to its first,
/// then in the structure around it. nullptr: not found.
const Stream::Named* Stream::find_within(Scope scope, const std::vector<std::string>& path,
                                         std::uint32_t depth) const {
  const auto place = static_cast<std::size_t>(scope);
  const std::size_t end = scope == current_ ? scope_.size() : scope_begin_[place + 1];
  for (std::size_t i = end; i > scope_begin_[place]; --i) {
    const Named& each = scope_[i - 1];
    if (each.depth < depth) {
      depth = each.depth;  // the structure itself: continue in the one around it
    } else if (each.depth == depth && each.name == path.front()) {
      if (const Named* const found = follow(i - 1, end, path); found != nullptr) {
        return found;
      }
    }
  }
  return nullptr;
}

/// Returns the integer at the end of the path that begins at `at`; null if it ends elsewhere.
const Stream::Named* Stream::follow(std::size_t at, std::size_t end,
                                    const std::vector<std::string>& path) const {
  for (std::size_t part = 1; part < path.size(); ++part) {
    const std::uint32_t inner = scope_[at].depth + 1;
    std::size_t next = at + 1;
    while (next < end && scope_[next].depth >= inner &&
           !(scope_[next].depth == inner && scope_[next].name == path[part])) {
      ++next;
    }
    if (next >= end || scope_[next].depth < inner) {
      return nullptr;
    }
    at = next;
  }
  return scope_[at].type != nullptr ? &scope_[at] : nullptr;
}

/// Reads past a value. Keeps the integers of structures, to which later fields may refer.
void Stream::skip(const Type& type, std::string_view name) {
  if (steps_-- == 0) {
    steps_ = 0;
    throw Damage("an event has more fields than the reader allows");
  }
  switch (type.kind) {
    case TypeKind::kInteger:
      scope_.push_back({name, read_integer(type), &type, depth_});
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
      scope_.push_back({name, 0, nullptr, depth_});
      ++depth_;
      skip_members(type);
      --depth_;  // skipped by Damage, which ends the event
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

/// Skips the members of a structure, which are at the current depth of the scope. If `structure`
/// has another type, it is skipped as a single member.
void Stream::skip_members(const Type& structure) {
  if (structure.kind != TypeKind::kStruct) {
    skip(structure);
    return;
  }
  align(structure.align);
  for (const Member& member : structure.members) {
    skip(*member.type, member.name);
  }
}

/// Moves to the first element of a list, and returns the number of the elements. A list has the
/// alignment of its elements, also when it is empty.
std::uint64_t Stream::begin_list(const Type& type) {
  std::uint64_t count = type.count;
  if (type.kind == TypeKind::kSequence) {
    const Named* const length = find(type.length);
    if (length == nullptr) {
      throw Damage("the length of a sequence is missing");
    }
    if (length->type->is_signed && static_cast<std::int64_t>(length->value) < 0) {
      throw Damage("the length of a sequence is negative");
    }
    count = length->value;
  }
  align(type.align);
  return count;
}

void Stream::skip_list(const Type& type) {
  const std::uint64_t count = begin_list(type);
  const Type& element = *type.element;
  if (element.kind == TypeKind::kInteger && !element.is_clock &&
      element.size % element.align == 0) {
    if (at_ > end_ || count > (end_ - at_) / element.size) {
      throw Damage("it ends within an event");
    }
    at_ += count * element.size;
    return;
  }
  const std::size_t outside = scope_.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    skip(element);
    scope_.resize(outside);
  }
}

/// Reads the integers of a list. A field of another type yields none.
void Stream::read_list(const Type& type, std::vector<std::uint64_t>& store) {
  if ((type.kind != TypeKind::kArray && type.kind != TypeKind::kSequence) ||
      type.element->kind != TypeKind::kInteger || type.element->is_clock) {
    skip(type);
    return;
  }
  constexpr std::uint64_t kMostListed = 100'000;
  const std::uint64_t count = begin_list(type);
  if (at_ > end_ || count > (end_ - at_) / type.element->size) {
    throw Damage("it ends within an event");
  }
  if (count > kMostListed) {
    throw Damage("an event lists " + std::to_string(count) + " numbers, more than " +
                 std::to_string(kMostListed));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    store.push_back(read_integer(*type.element));
  }
}

const Type& Stream::chosen(const Type& variant) const {
  const Named* const tag = find(variant.tag);
  if (tag == nullptr) {
    throw Damage("the tag of a variant is missing");
  }
  const bool is_signed = tag->type->is_signed;
  const auto at_most = [is_signed](std::uint64_t a, std::uint64_t b) {
    return is_signed ? static_cast<std::int64_t>(a) <= static_cast<std::int64_t>(b) : a <= b;
  };
  for (const Label& label : tag->type->labels) {
    const auto option = std::ranges::find(variant.members, label.name, &Member::name);
    if (at_most(static_cast<std::uint64_t>(label.first), tag->value) &&
        at_most(tag->value, static_cast<std::uint64_t>(label.last)) &&
        option != variant.members.end()) {
      return *option->type;
    }
  }
  throw Damage("a variant has no member for the value of its tag");
}

/// Reads a text: a string, or an array of bytes up to the first zero.
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
  const bool of_bytes = (type.kind == TypeKind::kArray || type.kind == TypeKind::kSequence) &&
                        type.element->kind == TypeKind::kInteger && type.element->size == 8 &&
                        type.element->align <= 8 && begin % 8 == 0;
  for (std::uint64_t at = begin; of_bytes && at < at_ && packet_[at / 8] != 0; at += 8) {
    store.push_back(static_cast<char>(packet_[at / 8]));
  }
}

}  // namespace rclrt::trace::ctf
