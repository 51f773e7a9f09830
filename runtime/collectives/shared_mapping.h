// SharedMapping: memory that all processes of a group share, on one host.
#ifndef TANDEM_RUNTIME_COLLECTIVES_SHARED_MAPPING_H_
#define TANDEM_RUNTIME_COLLECTIVES_SHARED_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collectives/connect_options.h"

namespace tandem {

// The memory has no name in a file system: it is gone with the last process, however that ends.
class SharedMapping {
 public:
  // Creates zeroed memory of `bytes`, aligned to pages, mapped by all ranks or by none. FailedPrecondition, on all
  // ranks alike: not all are on one host, or the host does not let them share. Errors of the store are passed on.
  static absl::StatusOr<std::unique_ptr<SharedMapping>> Create(const ConnectOptions& options, size_t bytes);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // True if the process of `rank` still exists, even if it is stopped.
  bool Lives(int rank) const;

 private:
  SharedMapping() = default;

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  int descriptor_ = -1;
  std::vector<int> processes_;            // process ids, by rank
  std::vector<int> process_descriptors_;  // pidfds, by rank; -1 where the kernel provides none
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_SHARED_MAPPING_H_
