#include "data/cache_settings.h"

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "data/files/element_codec.h"

namespace tandem::data_internal {

void AddCacheSettings(absl::string_view settings, NodeInfo* info) {
  absl::StrAppend(&info->cache_settings, info->cache_settings.empty() ? "" : ", ", settings);
}

std::string ValueSetting(const HostTensor& value) {
  if (value.empty()) return "none";
  std::string bytes;
  AppendElement({{value}}, &bytes);
  return absl::StrCat(absl::Hex(Fingerprint64(bytes), absl::kZeroPad16));
}

std::string LimitSetting(absl::string_view pieces, int64_t limit, int64_t usual) {
  return limit == usual ? "" : absl::StrCat(pieces, " of ", limit, " bytes");
}

}  // namespace tandem::data_internal
