// What cached elements depend on and positions do not, so that no signature has it (NodeInfo::cache_settings).
#ifndef TANDEM_DATA_CACHE_SETTINGS_H_
#define TANDEM_DATA_CACHE_SETTINGS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "data/node.h"

namespace tandem::data_internal {

// Notes a stage's settings, such as "repeat(2)", behind those of the stages before it.
void AddCacheSettings(absl::string_view settings, NodeInfo* info);

// A checksum of type, shape and contents: tells a default or a padding from others. "none" for an empty tensor.
std::string ValueSetting(const HostTensor& value);

// A limit on the bytes of `pieces`, such as "lines"; "" for the usual one. What is longer is an error, which may be
// passed over.
std::string LimitSetting(absl::string_view pieces, int64_t limit, int64_t usual);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_CACHE_SETTINGS_H_
