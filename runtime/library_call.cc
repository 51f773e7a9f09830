#include "runtime/library_call.h"

namespace tandem {

OperationInfo InfoOf(const fb::LibraryCallT& call) {
  return VisitOperation(call, [](const auto& operation) { return InfoOf(operation); });
}

std::string TextOf(const fb::LibraryCallT& call) {
  return VisitOperation(call, [](const auto& operation) { return TextOf(operation); });
}

void SetEpilogue(fb::LibraryCallT& call, const Epilogue& epilogue) {
  if (fb::Conv2DT* conv = call.operation.AsConv2D()) conv->epilogue = epilogue;
  if (fb::MatMulT* product = call.operation.AsMatMul()) product->epilogue = epilogue;
}

void SetPacked(fb::LibraryCallT& call, bool packed) {
  if (fb::Conv2DT* conv = call.operation.AsConv2D()) conv->packed = packed;
  if (fb::MatMulT* product = call.operation.AsMatMul()) product->packed = packed;
}

absl::StatusOr<LibraryOperands> CheckLibraryCall(const fb::LibraryCallT& call) {
  if (InfoOf(call).name.empty()) return BadOperation("the library call has no operation that is known here");
  return VisitOperation(call, [](const auto& operation) { return CheckOperation(operation); });
}

}  // namespace tandem
