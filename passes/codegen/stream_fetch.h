// Fetches into the cache what a loop nest is about to read and write.
//
// A nest that goes over a few places of an image side by side touches memory in an order that the CPU does not foresee,
// and writes lines that are not in its cache. Where the tensors are larger than the caches, fetching their lines ahead,
// in the order in which they lie, halves the time.
#ifndef TANDEM_PASSES_CODEGEN_STREAM_FETCH_H_
#define TANDEM_PASSES_CODEGEN_STREAM_FETCH_H_

#include <vector>

#include "passes/codegen/index_builder.h"

namespace tandem {

// A tensor in memory whose elements a nest all touches, in about the order of memory.
struct Stream {
  mlir::Value pointer;
  mlir::Type storage;  // type of an element in memory
  bool written;
};

// Fetches elements [first, first + count) of every stream, where `first` is an index. They may lie beyond its end.
void EmitFetch(IndexBuilder& at, const std::vector<Stream>& streams, mlir::Value first, int64_t count);

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_STREAM_FETCH_H_
