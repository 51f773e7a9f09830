// Appends fields of messages, as data/files/wire.h does for bytes. Internal to estimator/summary.
#ifndef TANDEM_ESTIMATOR_SUMMARY_WIRE_FIELDS_H_
#define TANDEM_ESTIMATOR_SUMMARY_WIRE_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "data/files/record_format.h"
#include "data/files/wire.h"

namespace tandem::wire {

inline void AppendRawDouble(double value, std::string* out) {
  char bytes[sizeof value];
  record_format::StoreLittleEndian(value, bytes);
  out->append(bytes, sizeof bytes);
}

inline void AppendDouble(uint32_t field, double value, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kFixed64), out);
  AppendRawDouble(value, out);
}

inline void AppendFloat(uint32_t field, float value, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kFixed32), out);
  char bytes[sizeof value];
  record_format::StoreLittleEndian(value, bytes);
  out->append(bytes, sizeof bytes);
}

inline void AppendNumber(uint32_t field, uint64_t value, std::string* out) {
  AppendVarint(field << 3 | static_cast<uint32_t>(Type::kVarint), out);
  AppendVarint(value, out);
}

inline void AppendPacked(uint32_t field, const std::vector<double>& values, std::string* out) {
  std::string packed;
  for (double value : values) AppendRawDouble(value, &packed);
  AppendBytes(field, packed, out);
}

}  // namespace tandem::wire

#endif  // TANDEM_ESTIMATOR_SUMMARY_WIRE_FIELDS_H_
