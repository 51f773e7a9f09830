// Names for the large constants of a program, so that its text costs and shows what it does without them.
#ifndef TANDEM_PASSES_CONSTANT_NAMES_H_
#define TANDEM_PASSES_CONSTANT_NAMES_H_

#include <cstdint>
#include <map>
#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"

namespace tandem {

// The numbers as a program has them in memory: row-major, booleans one byte; of one that is repeated all.
std::string ConstantBytes(mlir::DenseElementsAttr elements);
// What a constant of these bytes is called: kConstantPrefix (report_segments.h) and their fingerprint.
std::string ConstantName(llvm::StringRef bytes);
// The constant of `type` with these bytes; null where their number does not fit.
mlir::DenseElementsAttr ConstantOfBytes(mlir::ShapedType type, llvm::StringRef bytes);

// Prints modules of one context. Each constant's bytes are read once, however often it is printed.
class ConstantPrinter {
 public:
  using ByName = std::map<std::string, mlir::DenseElementsAttr>;
  // The text of `module`, in which `dense_resource<NAME>` stands for constants of more than `max_elements` numbers
  // that are not one repeated. They are added to `named`, unless it is null. The module is the same afterwards.
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

#endif  // TANDEM_PASSES_CONSTANT_NAMES_H_
