// Calls of kernel libraries, whatever they compute.
#ifndef TANDEM_RUNTIME_LIBRARY_CALL_H_
#define TANDEM_RUNTIME_LIBRARY_CALL_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable_generated.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// visit(operation), with one of the tables of LibraryOperation; a default value for a call that has none of them, which
// CheckLibraryCall refuses.
template <typename Visit>
auto VisitOperation(const fb::LibraryCallT& call, const Visit& visit) -> decltype(visit(fb::MatMulT())) {
  using Result = decltype(visit(fb::MatMulT()));
  if (call.operation.value == nullptr) return Result();  // a file may name a type and have no table
  switch (call.operation.type) {
    case fb::LibraryOperation::Conv2D:
      return visit(*call.operation.AsConv2D());
    case fb::LibraryOperation::MatMul:
      return visit(*call.operation.AsMatMul());
    case fb::LibraryOperation::BatchMatMul:
      return visit(*call.operation.AsBatchMatMul());
    case fb::LibraryOperation::PackWeights:
      return visit(*call.operation.AsPackWeights());
    default:
      return Result();
  }
}

// What the operation says of itself (operation.h); of none, a name that is empty.
OperationInfo InfoOf(const fb::LibraryCallT& call);

std::string TextOf(const fb::LibraryCallT& call);

// For what takes an epilogue and packed weights: a convolution or a MatMul; others stay as they are.
void SetEpilogue(fb::LibraryCallT& call, const Epilogue& epilogue);
void SetPacked(fb::LibraryCallT& call, bool packed);

// CheckOperation of its operation.
absl::StatusOr<LibraryOperands> CheckLibraryCall(const fb::LibraryCallT& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALL_H_
