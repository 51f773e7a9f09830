// Appends fields of numbers to messages, as wire.h does for bytes.
#ifndef TANDEM_DATA_FILES_WIRE_FIELDS_H_
#define TANDEM_DATA_FILES_WIRE_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data/files/wire.h"

namespace tandem::wire {

// Appends the bytes of a number, little endian: Tandem runs on little-endian machines only.
template <typename T>
void AppendRaw(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void AppendDouble(uint32_t field, double value, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kFixed64), out);
  AppendRaw(value, out);
}

inline void AppendFloat(uint32_t field, float value, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kFixed32), out);
  AppendRaw(value, out);
}

inline void AppendNumber(uint32_t field, uint64_t value, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kVarint), out);
  AppendVarint(value, out);
}

inline void AppendPacked(uint32_t field, const std::vector<double>& values, std::string* out) {
  std::string packed;
  for (double value : values) AppendRaw(value, &packed);
  AppendBytes(field, packed, out);
}

}  // namespace tandem::wire

#endif  // TANDEM_DATA_FILES_WIRE_FIELDS_H_
