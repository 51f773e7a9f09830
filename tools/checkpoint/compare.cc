#include "tools/checkpoint/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "tools/checkpoint/values.h"

namespace tandem {
namespace {

// The distance of two integers, which may have more bits than one of them.
uint64_t Distance(int64_t a, int64_t b) {
  const auto of_a = static_cast<uint64_t>(a), of_b = static_cast<uint64_t>(b);
  return a > b ? of_a - of_b : of_b - of_a;
}

// "3 of 12 elements differ, by at most 0.5, at [1,2]: 0.25 and 0.75".
std::string DifferencesOf(const HostTensor& a, const HostTensor& b) {
  const int64_t size = SizeOf(a.dtype());
  int64_t differ = 0, not_finite = 0, at = -1;
  double most = -1;
  uint64_t most_of_integers = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto* of_a = static_cast<const char*>(a.raw()) + i * size;
    const auto* of_b = static_cast<const char*>(b.raw()) + i * size;
    if (std::memcmp(of_a, of_b, size) == 0) continue;
    ++differ;
    if (const std::optional<int64_t> integer = IntegerAt(a, i); integer.has_value()) {
      const uint64_t distance = Distance(*integer, *IntegerAt(b, i));
      if (distance > most_of_integers) at = i;
      most_of_integers = std::max(most_of_integers, distance);
      continue;
    }
    const double difference = std::abs(NumberAt(a, i) - NumberAt(b, i));
    if (!std::isfinite(difference)) {
      ++not_finite;
    } else if (difference > most) {
      most = difference;
      at = i;
    }
  }
  std::string text = absl::StrCat(differ, " of ", a.num_elements(), " elements differ");
  if (at >= 0) {
    absl::StrAppend(&text, ", by at most ",
                    most_of_integers > 0 ? absl::StrCat(most_of_integers) : absl::StrFormat("%.6g", most), ", at ",
                    IndexText(a.shape(), at), ": ", TextAt(a, at), " and ", TextAt(b, at));
  }
  if (not_finite > 0) absl::StrAppend(&text, ", ", not_finite, " of them where one is not finite");
  return text;
}

}  // namespace

absl::StatusOr<CheckpointDifferences> CompareCheckpoints(const CheckpointReader& a, const CheckpointReader& b) {
  std::map<std::string, std::pair<const SavedTensor*, const SavedTensor*>> both;
  for (const auto* tensors : {&a.variables(), &a.slots()}) {
    for (const SavedTensor& tensor : *tensors) both[tensor.name].first = &tensor;
  }
  for (const auto* tensors : {&b.variables(), &b.slots()}) {
    for (const SavedTensor& tensor : *tensors) both[tensor.name].second = &tensor;
  }
  CheckpointDifferences result;
  const auto differs = [&result](const std::string& name, absl::string_view what) {
    result.equal = false;
    absl::StrAppend(&result.text, PrintableLine(name), ": ", what, "\n");
  };
  int64_t equal = 0;
  for (const auto& [name, tensors] : both) {
    const auto& [in_a, in_b] = tensors;
    if (in_a == nullptr || in_b == nullptr) {
      const SavedTensor& only = in_a == nullptr ? *in_b : *in_a;
      differs(name, absl::StrCat(only.TypeString(), ", only in the ", in_a == nullptr ? "second" : "first"));
    } else if (in_a->TypeString() != in_b->TypeString()) {
      differs(name, absl::StrCat(in_a->TypeString(), " in the first, ", in_b->TypeString(), " in the second"));
    } else {
      TD_ASSIGN_OR_RETURN(const HostTensor of_a, a.Read(name));
      TD_ASSIGN_OR_RETURN(const HostTensor of_b, b.Read(name));
      if (of_a.BitEqual(of_b)) {
        ++equal;
      } else {
        differs(name, DifferencesOf(of_a, of_b));
      }
    }
  }
  absl::StrAppend(&result.text, equal, " of ", both.size(), " tensors have equal bits\n");
  return result;
}

}  // namespace tandem
