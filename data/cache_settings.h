// Settings that change the elements in a cache but not the positions of iterators (NodeInfo::cache_settings). They are
// compared when a cache is opened, and are no part of Dataset::Signature.
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

// Returns a checksum of the type, shape and contents of a default or padding value, or "none" for an empty tensor.
std::string ValueSetting(const HostTensor& value);

// Describes the limit on the bytes of one of the source's `pieces`, such as "lines"; "" for the usual limit. A cache
// must know the limit because longer pieces are errors, which IgnoreErrors may have left out of the cached elements.
std::string LimitSetting(absl::string_view pieces, int64_t limit, int64_t usual);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_CACHE_SETTINGS_H_
