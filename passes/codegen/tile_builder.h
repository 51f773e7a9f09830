// Short forms of the instructions of a CPU's matrix unit (AMX): eight registers of 16 rows of 64 bytes.
#ifndef TANDEM_PASSES_CODEGEN_TILE_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_TILE_BUILDER_H_

#include "passes/codegen/vector_builder.h"

namespace tandem {

// Registers are numbers 0 to 7, fixed when code is emitted: LLVM neither allocates nor spills them. Nothing may be used
// before Configure or after Release, and both belong outside of all loops.
class TileBuilder {
 public:
  explicit TileBuilder(VectorBuilder& v) : v_(v) {}

  // Configures all registers as 16 rows of 64 bytes, and sets them to zero.
  void Configure();
  void Release();

  void Zero(int tile);
  // Load and store a register. Row r is r * `stride` bytes behind the pointer.
  void Load(int tile, mlir::Value pointer, int64_t stride);
  void Store(int tile, mlir::Value pointer, int64_t stride);
  // Emits sum[i, j] += sum over k < 32 of a[i, k] * b[k, j], in float32 and in the order of k. A row of register a has
  // 32 bfloat16 numbers; a row of b has two rows of the second matrix, as pairs.
  void AddProducts(int sum, int a, int b);

 private:
  mlir::Value Number(int tile);
  void Call(const char* intrinsic, mlir::ValueRange arguments);

  VectorBuilder& v_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_TILE_BUILDER_H_
