#include "runtime/collectives/vector_list.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

bool CanReduce(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat64 || dtype == DType::kInt32 ||
         dtype == DType::kInt64;
}

template <typename T>
void Append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

absl::StatusOr<VectorList> VectorList::Make(format::ReduceKind kind, absl::Span<const ProcessGroup::Values> values,
                                            absl::Span<const bool> present, int group_size) {
  if (kind != format::ReduceKind::kSum && kind != format::ReduceKind::kMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("AllReduce: kind ", static_cast<int>(kind), " is neither Sum nor Max"));
  }
  if (static_cast<int64_t>(present.size()) != group_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("AllReduce: `present` has ", present.size(), " ranks, the group ", group_size));
  }
  VectorList list;
  list.kind_ = kind;
  list.present_ = present;
  if (!values.empty()) list.dtype_ = values[0].dtype;
  if (!CanReduce(list.dtype_)) {
    return absl::InvalidArgumentError(absl::StrCat("AllReduce: cannot reduce ", Name(list.dtype_)));
  }
  list.element_size_ = SizeOf(list.dtype_);
  std::string meaning;
  Append(meaning, static_cast<int32_t>(kind));
  Append(meaning, static_cast<int32_t>(list.dtype_));
  for (bool p : present) meaning.push_back(p ? 1 : 0);
  list.starts_.push_back(0);
  const int64_t limit = std::numeric_limits<int64_t>::max() / list.element_size_;
  for (const ProcessGroup::Values& v : values) {
    if (v.dtype != list.dtype_) {
      return absl::InvalidArgumentError(
          absl::StrCat("AllReduce: vectors of ", Name(list.dtype_), " and of ", Name(v.dtype), " in one call"));
    }
    if (v.count < 0 || v.count > limit - list.count()) {
      return absl::InvalidArgumentError(absl::StrCat("AllReduce: a vector of ", v.count, " elements"));
    }
    Append(meaning, v.count);
    if (v.count == 0) continue;
    list.stretches_.push_back({static_cast<std::byte*>(v.data), v.count});
    list.starts_.push_back(list.starts_.back() + v.count);
  }
  list.fingerprint_ = Fingerprint64(meaning);
  return list;
}

}  // namespace tandem
