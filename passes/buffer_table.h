// The buffers of a program while they are being assigned: kept as attributes of the module, so that a dump shows them.
#ifndef TANDEM_PASSES_BUFFER_TABLE_H_
#define TANDEM_PASSES_BUFFER_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tandem {

// One row of executable.fbs's Buffer table, before it is one. `space` is the schema's name in lower case.
struct BufferInfo {
  std::string name;
  std::string space;
  int64_t index = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t row_bytes = 0;
  mlir::RankedTensorType type;
};

// Bytes of one batch row (batched types) or of the whole value.
int64_t RowBytes(mlir::Type type);
int64_t StaticBytes(mlir::Type type);

void SetBuffers(mlir::ModuleOp module, const std::vector<BufferInfo>& buffers);
std::vector<BufferInfo> GetBuffers(mlir::ModuleOp module);

}  // namespace tandem

#endif  // TANDEM_PASSES_BUFFER_TABLE_H_
