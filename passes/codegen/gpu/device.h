// What a kernel asks of the machine that runs it, as calls of functions without a body. For GPUs ptx.cc makes them
// instructions; for tests on a CPU runtime/cuda/testing/kernel_walk.cc implements them in C++.
#ifndef TANDEM_PASSES_CODEGEN_GPU_DEVICE_H_
#define TANDEM_PASSES_CODEGEN_GPU_DEVICE_H_

#include <cstdint>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

inline constexpr int kWarp = 32;

class Device {
 public:
  Device(mlir::OpBuilder& builder, mlir::ModuleOp module) : b_(builder), module_(module) {}

  // Of type index: the thread's number in its block, and the block's in the grid.
  mlir::Value Thread(mlir::Location loc);
  mlir::Value Block(mlir::Location loc);
  // All threads of the block, or of the warp, must come here; what they wrote before is seen after.
  void SyncBlock(mlir::Location loc);
  void SyncWarp(mlir::Location loc);
  // The value of the thread in the same warp whose number differs in the bits of `mask`; all threads of the warp must
  // ask together. Any integer or float of at most 64 bits.
  mlir::Value ShuffleXor(mlir::Location loc, mlir::Value value, int mask);
  // The block's memory (16-byte aligned, undefined at first).
  mlir::Value Shared(mlir::Location loc);

 private:
  mlir::Value Call(mlir::Location loc, llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments);

  mlir::OpBuilder& b_;
  mlir::ModuleOp module_;
};

// The names: i32 td_thread(), i32 td_block(), void td_sync_block(), void td_sync_warp(),
// i32 td_shuffle_xor(i32 value, i32 mask), ptr td_shared().
inline constexpr char kThreadFunction[] = "td_thread";
inline constexpr char kBlockFunction[] = "td_block";
inline constexpr char kSyncBlockFunction[] = "td_sync_block";
inline constexpr char kSyncWarpFunction[] = "td_sync_warp";
inline constexpr char kShuffleFunction[] = "td_shuffle_xor";
inline constexpr char kSharedFunction[] = "td_shared";

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_DEVICE_H_
