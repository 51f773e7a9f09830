// Packing of weights into the layout that another call reads them in.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_

#include "runtime/format/index.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// From plain weights of the packed type. `reader` has a kernel operand: it is a convolution forward, its input gradient
// or a MatMul, with any epilogue.
format::LibraryCall PackingFor(const format::LibraryCall& reader);

// The call that reads what `packing` writes.
format::LibraryCall ReaderOf(const format::PackWeights& packing);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_
