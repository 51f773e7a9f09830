// Settings that cached elements depend on but iterator positions do not; no signature has them
// (NodeInfo::cache_settings).
#ifndef TANDEM_DATA_CACHE_SETTINGS_H_
#define TANDEM_DATA_CACHE_SETTINGS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "data/node.h"

namespace tandem::data_internal {

// Appends a stage's settings, such as "repeat(2)", to those of the stages before it.
void AddCacheSettings(absl::string_view settings, NodeInfo* info);

// Returns a checksum of type, shape and contents, which tells one default or padding value from another; "none" for an
// empty tensor.
std::string ValueSetting(const HostTensor& value);

// Describes a limit on the bytes of each of `pieces`, such as "lines"; "" for the usual limit. It matters to a cache
// because longer pieces are errors, and IgnoreErrors may leave those out.
std::string LimitSetting(absl::string_view pieces, int64_t limit, int64_t usual);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_CACHE_SETTINGS_H_
