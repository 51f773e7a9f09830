// VectorList: the vectors of one all-reduce, checked, and treated as one concatenation.
#ifndef TANDEM_RUNTIME_COLLECTIVES_VECTOR_LIST_H_
#define TANDEM_RUNTIME_COLLECTIVES_VECTOR_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/dtype.h"
#include "runtime/collectives/process_group.h"
#include "runtime/format/index.h"

namespace tandem {

class VectorList {
 public:
  // Elements that follow each other in memory.
  struct Stretch {
    std::byte* data = nullptr;
    int64_t count = 0;
  };

  // Checks and lists the vectors. InvalidArgument: a kind or dtype that TreeReduce does not have, vectors of several
  // dtypes, a negative count, a `present` that is not as long as the group.
  static absl::StatusOr<VectorList> Make(format::ReduceKind kind, absl::Span<const ProcessGroup::Values> values,
                                         absl::Span<const bool> present, int group_size);

  format::ReduceKind kind() const { return kind_; }
  DType dtype() const { return dtype_; }
  int64_t count() const { return starts_.back(); }
  int64_t element_size() const { return element_size_; }
  int64_t bytes() const { return count() * element_size_; }
  absl::Span<const bool> present() const { return present_; }
  bool nobody() const { return std::find(present_.begin(), present_.end(), true) == present_.end(); }
  // The vectors that are not empty.
  absl::Span<const Stretch> stretches() const { return stretches_; }
  // Returns a hash of kind, dtype, lengths and `present`: equal on all ranks that make the same call.
  uint64_t fingerprint() const { return fingerprint_; }

  // Calls f(data, count, offset) for each stretch of the elements [first, first + count); `offset` counts from `first`.
  template <typename F>
  void ForEach(int64_t first, int64_t count, F f) const {
    if (count <= 0) return;
    size_t at = std::upper_bound(starts_.begin(), starts_.end(), first) - starts_.begin() - 1;
    for (int64_t done = 0; done < count; ++at) {
      const int64_t skip = first + done - starts_[at], n = std::min(count - done, stretches_[at].count - skip);
      f(stretches_[at].data + skip * element_size_, n, done);
      done += n;
    }
  }

 private:
  VectorList() = default;

  format::ReduceKind kind_{};  // kSum by default
  DType dtype_ = DType::kFloat32;
  int64_t element_size_ = 4;
  absl::Span<const bool> present_;
  std::vector<Stretch> stretches_;
  // index of each stretch's first element in the concatenation, and the number of all elements
  std::vector<int64_t> starts_;
  uint64_t fingerprint_ = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_VECTOR_LIST_H_
