// The configuration of a library call, between its attribute form (exec.library_call) and its table in the executable.
#ifndef TANDEM_PASSES_LIBRARY_CONFIG_H_
#define TANDEM_PASSES_LIBRARY_CONFIG_H_

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/executable_generated.h"

namespace tandem {

mlir::DictionaryAttr LibraryConfigToAttr(mlir::MLIRContext* context, const fb::LibraryCallT& call);
// Errors: Unimplemented for the name of an unknown primitive.
absl::StatusOr<fb::LibraryCallT> LibraryConfigFromAttr(llvm::StringRef primitive, mlir::DictionaryAttr config);

// "conv2d", "conv2d_input_grad", "conv2d_filter_grad", "matmul", "pack_weights".
llvm::StringRef PrimitiveName(fb::Primitive primitive);
absl::StatusOr<fb::Primitive> PrimitiveFromName(llvm::StringRef name);

}  // namespace tandem

#endif  // TANDEM_PASSES_LIBRARY_CONFIG_H_
