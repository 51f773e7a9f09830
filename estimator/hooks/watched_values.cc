#include "estimator/hooks/watched_values.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

// Returns the first element that is not finite; nothing if all are.
template <typename T>
std::optional<double> FirstNonFinite(const HostTensor& tensor) {
  const T* values = tensor.data<T>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (!std::isfinite(values[i])) return static_cast<double>(values[i]);
  }
  return std::nullopt;
}

std::optional<double> NonFiniteOf(const HostTensor& tensor) {
  if (tensor.dtype() == DType::kFloat32) return FirstNonFinite<float>(tensor);
  if (tensor.dtype() == DType::kFloat64) return FirstNonFinite<double>(tensor);
  return std::nullopt;
}

}  // namespace

void WatchedValues::Look(const RunValues& values) {
  if (!values.finite) return;  // after a step that is not finite, some tensors are missing
  std::erase_if(watched_, [&](const auto& entry) {
    auto tensor = values.tensors.find(entry.first);
    if (tensor == values.tensors.end()) return false;
    const std::optional<double> bad = NonFiniteOf(tensor->second);
    if (!bad.has_value()) return false;
    warn_(absl::StrCat(entry.second, " is ",
                       std::isnan(*bad) ? "NaN"
                       : *bad > 0       ? "infinite"
                                        : "-infinite",
                       " in step ", values.step,
                       ". It is only watched: it is recorded as it is, and training goes on."));
    return true;
  });
}

}  // namespace tandem
