// ProcessGroup: the processes that run the replicas of one program together, and the values that they exchange in a
// step.
#ifndef TANDEM_RUNTIME_COLLECTIVES_PROCESS_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_PROCESS_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/dtype.h"
#include "runtime/format/index.h"

namespace tandem {

// Every process calls the same collectives with the same sizes in the same order, from one thread at a time. A call
// returns when this process has its result; others may still wait for theirs.
//
// Errors, of all calls: Unavailable (exit code 75) when a peer is lost or does not answer within the group's deadline;
// the message has `what`, the name of the collective. The memory that a failed call was to fill is undefined. Every
// later call returns the first error: a group does not recover, its processes make a new one.
class ProcessGroup {
 public:
  // A vector in memory.
  struct Values {
    DType dtype = DType::kFloat32;
    void* data = nullptr;
    int64_t count = 0;
  };

  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // How values travel, for the log: "shared memory", "TCP (Gloo)".
  virtual std::string transport() const = 0;

  // Combines the vectors of all ranks, in place, element by element, in the order of the tree over ranks
  // (runtime/collectives/reduction_tree.h): all ranks get the same bits, those that TreeReduce gives. `values` all have
  // one dtype, which TreeReduce must know. `kind`: Sum or Max. present[r]: true if rank r has values; the others'
  // values are not read, but are overwritten with the result. With no rank present nothing changes. `on_result`, where
  // there is one, is called with all of the result, in parts of any length and order, each while it is likely to be in
  // a cache.
  using ResultFn = std::function<void(const void* values, int64_t count)>;
  absl::Status AllReduce(format::ReduceKind kind, absl::Span<const Values> values, absl::Span<const bool> present,
                         absl::string_view what, const ResultFn& on_result = nullptr) {
    return DoAllReduce(kind, values, present, what, on_result);
  }

  // Writes the bytes of all ranks to `all`, one rank after another; it is size() times as long as `mine`.
  virtual absl::Status AllGather(absl::Span<const std::byte> mine, absl::Span<std::byte> all,
                                 absl::string_view what) = 0;

  // Copies the bytes of rank `root` to all other ranks.
  virtual absl::Status Broadcast(absl::Span<std::byte> bytes, int root, absl::string_view what) = 0;

  // May be called from any thread. The call that is waiting now, and all later ones, return `why`.
  virtual void Abort(const absl::Status& why) = 0;
  // Returns the first error of a call or an Abort; may be called from any thread.
  virtual absl::Status status() const = 0;

  // True if a call mostly waits for a network, so that other threads may compute meanwhile. Otherwise this process
  // moves the bytes itself.
  virtual bool waits_for_network() const = 0;

 private:
  // Implements AllReduce for a transport.
  virtual absl::Status DoAllReduce(format::ReduceKind kind, absl::Span<const Values> values,
                                   absl::Span<const bool> present, absl::string_view what,
                                   const ResultFn& on_result) = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_PROCESS_GROUP_H_
