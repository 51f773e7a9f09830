// Names for the large constants of a program, so that its printed text stays short and quick to write.
#ifndef TANDEM_PASSES_SERIALIZE_CONSTANT_NAMES_H_
#define TANDEM_PASSES_SERIALIZE_CONSTANT_NAMES_H_

#include <cstdint>
#include <map>
#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"

namespace tandem {

// Returns the constant's elements as they lie in the memory of a program: row-major, one byte per boolean. A splat is
// written out in full.
std::string ConstantBytes(mlir::DenseElementsAttr elements);
// Returns the name of a constant of these bytes: kConstantPrefix (report_segments.h) and their fingerprint.
std::string ConstantName(llvm::StringRef bytes);
// Returns the constant of `type` with these bytes, or null if their number does not fit the type.
mlir::DenseElementsAttr ConstantOfBytes(mlir::ShapedType type, llvm::StringRef bytes);

// Prints modules of one context. Each constant's bytes are read once, however often it is printed.
class ConstantPrinter {
 public:
  using ByName = std::map<std::string, mlir::DenseElementsAttr>;
  // Returns the text of `module`, in which `dense_resource<NAME>` stands for every constant of more than `max_elements`
  // numbers that is no splat. Adds those constants to `named`, unless it is null. The module is the same afterwards.
  std::string Print(mlir::ModuleOp module, int64_t max_elements, const mlir::OpPrintingFlags& flags,
                    ByName* named = nullptr);

 private:
  struct Named {
    std::string name;
    mlir::DenseResourceElementsAttr attribute;
  };
  const Named& NameOf(mlir::DenseElementsAttr elements);
  llvm::DenseMap<mlir::Attribute, Named> names_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_CONSTANT_NAMES_H_
