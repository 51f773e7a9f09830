// Functions of library calls that dispatch to the call's operation.
#ifndef TANDEM_RUNTIME_LIBRARY_CALLS_LIBRARY_CALL_H_
#define TANDEM_RUNTIME_LIBRARY_CALLS_LIBRARY_CALL_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"
#include "runtime/library_calls/operation.h"

namespace tandem {

// Returns the properties of the call's operation (operation.h); an empty name if the call has none.
OperationInfo InfoOf(const format::LibraryCall& call);

std::string TextOf(const format::LibraryCall& call);

// Change a call that takes an epilogue and packed weights: a convolution or a MatMul. Others stay as they are.
void SetEpilogue(format::LibraryCall& call, const format::Epilogue& epilogue);
void SetPacked(format::LibraryCall& call, bool packed);

// Calls CheckOperation for the call's operation.
absl::StatusOr<LibraryOperands> CheckLibraryCall(const format::LibraryCall& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_LIBRARY_CALLS_LIBRARY_CALL_H_
