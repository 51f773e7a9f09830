#include "runtime/library_calls/library_call.h"

namespace tandem {

OperationInfo InfoOf(const format::LibraryCall& call) {
  return call.operation.Visited([](const auto& operation) { return InfoOf(operation); });
}

std::string TextOf(const format::LibraryCall& call) {
  return call.operation.Visited([](const auto& operation) { return TextOf(operation); });
}

void SetEpilogue(format::LibraryCall& call, const format::Epilogue& epilogue) {
  if (format::Conv2D* conv = call.operation.As<format::Conv2D>()) conv->epilogue = epilogue;
  if (format::MatMul* product = call.operation.As<format::MatMul>()) product->epilogue = epilogue;
}

void SetPacked(format::LibraryCall& call, bool packed) {
  if (format::Conv2D* conv = call.operation.As<format::Conv2D>()) conv->packed = packed;
  if (format::MatMul* product = call.operation.As<format::MatMul>()) product->packed = packed;
}

absl::StatusOr<LibraryOperands> CheckLibraryCall(const format::LibraryCall& call) {
  if (call.operation.empty()) return BadOperation("the library call has no operation that is known here");
  return call.operation.Visited(
      [](const auto& operation) -> absl::StatusOr<LibraryOperands> { return CheckOperation(operation); });
}

}  // namespace tandem
