// Packing of weights into the layout that another call reads them in.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_

#include "runtime/executable_generated.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// From plain weights of the packed type. `reader` has a kernel operand: it is a convolution forward, its input gradient
// or a MatMul, with any epilogue.
fb::LibraryCallT PackingFor(const fb::LibraryCallT& reader);

// The call that reads what `packing` writes.
fb::LibraryCallT ReaderOf(const fb::PackWeightsT& packing);

// visit(reader): a convolution or a MatMul; a default value where there is none.
template <typename Visit>
auto VisitReader(const fb::PackWeightsT& packing, const Visit& visit) -> decltype(visit(fb::MatMulT())) {
  if (const fb::Conv2DT* conv = packing.reader.AsConv2D()) return visit(*conv);
  if (const fb::MatMulT* product = packing.reader.AsMatMul()) return visit(*product);
  return decltype(visit(fb::MatMulT()))();
}

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_PACK_WEIGHTS_H_
