// What an op needs from its surroundings to write itself as a command of an executable.
#ifndef TANDEM_PASSES_EXEC_COMMAND_H_
#define TANDEM_PASSES_EXEC_COMMAND_H_

#include <cstdint>
#include <string>

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "runtime/format/index.h"

namespace tandem::exec {

class CommandContext {
 public:
  virtual ~CommandContext() = default;
  virtual uint32_t KernelNumber(mlir::FlatSymbolRefAttr kernel) const = 0;
  // The name of the op that computes `value`, as the user sees it.
  virtual std::string NameOf(mlir::Value value) const = 0;
  // Adds a collective to the executable and returns its number.
  virtual uint32_t AddCollective(format::Collective collective) = 0;
};

// Returns the elements of one row of the first result, or of all of it where it has no rows; 0 without a result.
int64_t ElementsOfFirstResult(mlir::Operation* op);

// Returns what a kernel of kind "block" counts: the product of all dimensions but the last one.
int64_t RowsOfBlocks(mlir::Type type);

}  // namespace tandem::exec

#endif  // TANDEM_PASSES_EXEC_COMMAND_H_
