// Prefetches what a loop nest is about to read and write.
//
// A nest that handles a few neighbouring places of an image at a time touches memory in an order that the CPU's own
// prefetching does not detect, and writes lines that are not in its cache. Where tensors are larger than the caches,
// prefetching their lines, in the order of memory, halves the time.
#ifndef TANDEM_PASSES_CODEGEN_STREAM_FETCH_H_
#define TANDEM_PASSES_CODEGEN_STREAM_FETCH_H_

#include <vector>

#include "passes/codegen/index_builder.h"

namespace tandem {

// A tensor in memory. The loop nest reads or writes all of its elements, in about the order of memory.
struct Stream {
  mlir::Value pointer;
  mlir::Type storage;  // type of an element in memory
  bool written;
};

// Prefetches elements [first, first + count) of every stream; `first` is a value of type index. The elements may lie
// beyond the end of a stream.
void EmitFetch(IndexBuilder& at, const std::vector<Stream>& streams, mlir::Value first, int64_t count);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_STREAM_FETCH_H_
