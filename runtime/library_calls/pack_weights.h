// Packing of weights into the layout in which another call reads them.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_

#include "runtime/format/index.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// Returns the PackWeights call that makes the weights of `reader` from plain weights of the same type. `reader` has a
// kernel operand: it is a convolution forward, its input gradient or a MatMul, with any epilogue.
format::LibraryCall PackingFor(const format::LibraryCall& reader);

// Returns the call that reads the weights that `packing` writes.
format::LibraryCall ReaderOf(const format::PackWeights& packing);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_
