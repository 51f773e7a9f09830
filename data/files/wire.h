// The wire format of protocol buffers, as far as tf.train.Example needs it: fields of varints, fixed numbers and bytes.
//
// This code replaces libprotobuf: an Example has six fields, a reader of them writes straight into batches without
// making message objects, and a user's program may have another version of libprotobuf. Source: the "Encoding" page of
// the Protocol Buffers documentation.
#ifndef TANDEM_DATA_FILES_WIRE_H_
#define TANDEM_DATA_FILES_WIRE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem::wire {

enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// Reads fields one after another. Every read returns false for malformed or missing bytes; nothing may be read after
// that.
class Reader {
 public:
  explicit Reader(absl::string_view bytes)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())), at_(begin_), end_(begin_ + bytes.size()) {}

  bool done() const { return at_ == end_; }
  // Bytes read so far.
  int64_t position() const { return at_ - begin_; }

  // Reads up to ten bytes; bits above the 64th are dropped, as protobuf does.
  bool ReadVarint(uint64_t* value) {
    if (at_ < end_ && *at_ < 0x80) {
      *value = *at_++;
      return true;
    }
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) return false;
      const uint8_t byte = *at_++;
      *value |= static_cast<uint64_t>(byte & 0x7f) << (shift < 64 ? shift : 63);
      if (byte < 0x80) return true;
    }
    return false;
  }
  // Reads the tag of a field: its number, at least 1, and the wire type of its content.
  bool ReadTag(uint32_t* field, Type* type) {
    uint64_t tag = 0;
    if (!ReadVarint(&tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
    *field = static_cast<uint32_t>(tag >> 3);
    *type = static_cast<Type>(tag & 7);
    return true;
  }
  bool ReadBytes(absl::string_view* bytes) {
    uint64_t size = 0;
    if (!ReadVarint(&size) || size > static_cast<uint64_t>(end_ - at_)) return false;
    *bytes = absl::string_view(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return true;
  }
  // Reads the four bytes of a fixed number.
  bool ReadFixed32(absl::string_view* bytes) { return ReadRaw(4, bytes); }
  // Skips the content of a field of this type. Groups, which proto3 does not have, are malformed.
  bool Skip(Type type) {
    uint64_t number = 0;
    absl::string_view bytes;
    switch (type) {
      case Type::kVarint:
        return ReadVarint(&number);
      case Type::kFixed64:
        return ReadRaw(8, &bytes);
      case Type::kBytes:
        return ReadBytes(&bytes);
      case Type::kFixed32:
        return ReadRaw(4, &bytes);
      case Type::kStartGroup:
      case Type::kEndGroup:
        return false;
    }
    return false;
  }

 private:
  bool ReadRaw(int64_t size, absl::string_view* bytes) {
    if (end_ - at_ < size) return false;
    *bytes = absl::string_view(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return true;
  }

  const uint8_t* const begin_;
  const uint8_t* at_;
  const uint8_t* const end_;
};

inline void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Appends a field of bytes.
inline void AppendBytes(uint32_t field, absl::string_view bytes, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kBytes), out);
  AppendVarint(bytes.size(), out);
  out->append(bytes.data(), bytes.size());
}

}  // namespace tandem::wire

#endif  // TANDEM_DATA_FILES_WIRE_H_
