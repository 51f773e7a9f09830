// The primitives by which a library call computes fewer rows than a microbatch has: one row costs what one row takes,
// not what a microbatch takes. Only programs whose rows do not depend on each other have them.
//
// A row has the same bits whichever of the primitives computes it: they read the same packed weights, are of the same
// implementation, and each adds up the products of an element in the same order, whatever the number of rows
// (shorter_calls_test.cc).
#ifndef TANDEM_RUNTIME_CPU_COMMANDS_SHORTER_CALLS_H_
#define TANDEM_RUNTIME_CPU_COMMANDS_SHORTER_CALLS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/format/index.h"

namespace tandem {

class ShorterCalls {
 public:
  // A primitive, and how many rows it computes.
  struct Choice {
    const OneDnnPrimitive* primitive;
    int64_t rows;
  };

  // `call` computes `rows` rows with the primitive `whole`; both must outlive this object.
  ShorterCalls(const format::LibraryCall& call, int64_t rows, const OneDnnPrimitive& whole, int num_threads);

  // Returns the smallest primitive that computes at least `rows` rows, at least one, and needs at most `scratch_bytes`
  // of scratch memory; `whole` if there is none. Primitives exist for powers of two. Each is made when it is first
  // needed, which takes about a millisecond; later calls take no lock.
  Choice For(int64_t rows, uint64_t scratch_bytes) const;

 private:
  enum class State { kUnknown, kMade, kUnusable };
  struct Entry {
    std::atomic<State> state{State::kUnknown};
    std::unique_ptr<OneDnnPrimitive> primitive;
  };

  // Returns the primitive for `rows` rows; null if there is none.
  const OneDnnPrimitive* Get(Entry& entry, int64_t rows) const;

  const format::LibraryCall& call_;
  const int64_t rows_;
  const OneDnnPrimitive& whole_;
  const int num_threads_;
  mutable std::mutex making_;
  mutable std::vector<Entry> entries_;  // entry i is for 2^i rows
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_SHORTER_CALLS_H_
