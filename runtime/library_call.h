// Calls of kernel libraries, whatever they compute.
#ifndef TANDEM_RUNTIME_LIBRARY_CALL_H_
#define TANDEM_RUNTIME_LIBRARY_CALL_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// What the operation says of itself (operation.h); of none, a name that is empty.
OperationInfo InfoOf(const format::LibraryCall& call);

std::string TextOf(const format::LibraryCall& call);

// For what takes an epilogue and packed weights: a convolution or a MatMul; others stay as they are.
void SetEpilogue(format::LibraryCall& call, const format::Epilogue& epilogue);
void SetPacked(format::LibraryCall& call, bool packed);

// CheckOperation of its operation.
absl::StatusOr<LibraryOperands> CheckLibraryCall(const format::LibraryCall& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALL_H_
