#include "base/built_in_cross_device_ops.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/dtype.h"
#include "base/sums.h"

namespace tandem {
namespace {

constexpr int64_t kPart = 8192;  // elements of one task of a thread

// One part of a tensor: its elements [begin, begin + size).
class Slice {
 public:
  Slice(const CrossDeviceOps::PerReplica& tensor, int64_t part)
      : tensor_(tensor), begin_(part * kPart), size_(std::min(kPart, tensor.elements - begin_)) {}
  static int64_t Count(const CrossDeviceOps::PerReplica& tensor) { return (tensor.elements + kPart - 1) / kPart; }

  int replicas() const { return static_cast<int>(tensor_.values.size()); }
  // Adds the elements of replica `from` to those of replica `to`.
  void Add(int to, int from) const { AddTo(tensor_.dtype, At(to), At(from), size_); }
  void Copy(int to, int from) const { std::memcpy(At(to), At(from), size_ * SizeOf(tensor_.dtype)); }

 private:
  void* At(int replica) const {
    return static_cast<char*>(tensor_.values[replica]) + begin_ * static_cast<int64_t>(SizeOf(tensor_.dtype));
  }

  const CrossDeviceOps::PerReplica& tensor_;
  const int64_t begin_, size_;
};

// All values are added to the first replica's, one after another, and the sum is copied to the others.
class ReductionToOneDevice final : public CrossDeviceOps {
  absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) override {
    parallel_for(Slice::Count(tensor), [&](int64_t part) {
      const Slice slice(tensor, part);
      for (int r = 1; r < slice.replicas(); ++r) slice.Add(0, r);
      for (int r = 1; r < slice.replicas(); ++r) slice.Copy(r, 0);
    });
    return absl::OkStatus();
  }
};

// Sums in two groups of neighbouring replicas, like the GPUs behind the two switches of a DGX-1: the first replica of
// each group sums its group, the two sums are added, and the result is copied back the same way.
class HierarchicalCopyAllReduce final : public CrossDeviceOps {
  absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) override {
    parallel_for(Slice::Count(tensor), [&](int64_t part) {
      const Slice slice(tensor, part);
      const int second = (slice.replicas() + 1) / 2;  // the first replica of the second group
      for (int r = 1; r < second; ++r) slice.Add(0, r);
      for (int r = second + 1; r < slice.replicas(); ++r) slice.Add(second, r);
      slice.Add(0, second);
      slice.Copy(second, 0);
      for (int r = 1; r < second; ++r) slice.Copy(r, 0);
      for (int r = second + 1; r < slice.replicas(); ++r) slice.Copy(r, second);
    });
    return absl::OkStatus();
  }
};

}  // namespace

std::map<std::string, CrossDeviceOpsFactory, std::less<>> BuiltInCrossDeviceOps() {
  return {{"HierarchicalCopyAllReduce", [] { return std::make_unique<HierarchicalCopyAllReduce>(); }},
          {"ReductionToOneDevice", [] { return std::make_unique<ReductionToOneDevice>(); }}};
}

}  // namespace tandem
