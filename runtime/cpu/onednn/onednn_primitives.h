// Library calls on CPU: oneDNN primitives, made at load time and executed on one thread. Free of oneDNN types.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PRIMITIVES_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PRIMITIVES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/format/index.h"

namespace tandem {

// One library call. Results do not depend on the thread that runs it.
class OneDnnPrimitive {
 public:
  virtual ~OneDnnPrimitive() = default;

  // `num_threads`: the number of thread indices that Run gets. Errors: InvalidArgument for sizes that do not fit
  // together, Unimplemented when oneDNN has no primitive for the call.
  static absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> Create(const format::LibraryCall& call, int num_threads);
  // Creates a primitive that reads packed weights in the layout that is made for `packed_for`: the same call with
  // another number of rows.
  static absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> Create(const format::LibraryCall& call, int num_threads,
                                                                 const format::LibraryCall& packed_for);

  virtual const std::string& implementation() const = 0;
  // Returns the bytes of 64-byte aligned memory that Run needs for itself.
  virtual uint64_t scratch_bytes() const = 0;
  // Returns the number of parts of the call; any threads may run them, in any order and at the same time.
  virtual int64_t parts() const { return 1; }
  // Runs parts [begin, end). `in` and `out` are the buffers of the command's inputs, in their order, and of its output.
  // Calls with different `thread` may overlap.
  virtual absl::Status RunParts(int thread, absl::Span<void* const> in, void* out, void* scratch, int64_t begin,
                                int64_t end) const = 0;
  absl::Status Run(int thread, absl::Span<void* const> in, void* out, void* scratch) const {
    return RunParts(thread, in, out, scratch, 0, parts());
  }
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PRIMITIVES_H_
