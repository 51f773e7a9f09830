// The functions of the machine that a kernel uses, as calls of functions without a body. For GPUs ptx.cc turns them
// into instructions; for tests on a CPU runtime/cuda/testing/kernel_walk.cc implements them in C++.
#ifndef TANDEM_PASSES_CODEGEN_GPU_DEVICE_H_
#define TANDEM_PASSES_CODEGEN_GPU_DEVICE_H_

#include <array>
#include <cstdint>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace tandem {

inline constexpr int kWarp = 32;

class Device {
 public:
  Device(mlir::OpBuilder& builder, mlir::ModuleOp module) : b_(builder), module_(module) {}

  // The thread's number in its block, and the block's in the grid, of type index.
  mlir::Value Thread(mlir::Location loc);
  mlir::Value Block(mlir::Location loc);
  // Barriers for all threads of the block, or of the warp: what they wrote before is visible to all of them afterwards.
  void SyncBlock(mlir::Location loc);
  void SyncWarp(mlir::Location loc);
  // Returns the value that the thread of the same warp has whose number differs in the bits of `mask`. All threads of
  // the warp must call it together. `value`: any integer or float of at most 64 bits.
  mlir::Value ShuffleXor(mlir::Location loc, mlir::Value value, int mask);
  // Counts blocks that arrive at `counter` in device memory. Returns 1 for the last of `count` (i32) blocks, which sees
  // all that the others have written, else 0. The counter is zero at first and again after the last block. To be called
  // by one thread of a block, after a barrier.
  mlir::Value Arrive(mlir::Location loc, mlir::Value counter, mlir::Value count);
  // Returns the block's shared memory (16-byte aligned, undefined at first).
  mlir::Value Shared(mlir::Location loc);

  // Returns e^x of a float32 by the fast instruction: wrong by a few units in the last place, and 0 instead of
  // subnormal numbers.
  mlir::Value Exp(mlir::Location loc, mlir::Value x);
  // Returns two float32 as bfloat16 numbers in an i32, rounded to nearest even; `low` is in its lower half.
  mlir::Value PackBFloat16(mlir::Location loc, mlir::Value low, mlir::Value high);
  // Returns a float32 as a TensorFloat-32 number, its bits in an i32: rounded to 10 bits of fraction, to nearest, ties
  // away from zero.
  mlir::Value RoundToTensorFloat32(mlir::Location loc, mlir::Value x);

  // Matrix instructions, which all threads of a warp run together; `lane` is a thread's number in the warp. A word, an
  // i32, is a pair of bfloat16 numbers, the first in its lower half, or a TensorFloat-32 number.
  using Words = std::array<mlir::Value, 4>;
  // Loads four matrices of 8 rows of 4 words from shared memory: thread `lane` passes the address of row lane % 8 of
  // matrix lane / 8, a multiple of 16 bytes, and gets word lane % 4 of row lane / 4 of each matrix. With `transposed`,
  // for bfloat16 numbers, it gets pair lane % 4 of column lane / 4.
  Words LoadMatrices(mlir::Location loc, mlir::Value address, bool transposed);
  // Returns c + a b in float32, where a is 16 x 16, b 16 x 8 and c 16 x 8, laid out as PTX's mma.m16n8k16 wants them:
  // with row = lane / 4 and p = lane % 4 a thread has pair p of rows `row` and `row` + 8 of a, then pair p + 4 of both;
  // pairs p and p + 4 of column `row` of b; and the numbers 2 p and 2 p + 1 of rows `row` and `row` + 8 of c.
  std::array<mlir::Value, 4> MultiplyAdd(mlir::Location loc, const Words& a, mlir::Value b_first, mlir::Value b_second,
                                         llvm::ArrayRef<mlir::Value> c);
  // Returns c + a b like MultiplyAdd, for TensorFloat-32 numbers, where a is 16 x 8 and b 8 x 8, laid out as PTX's
  // mma.m16n8k8 wants them: a thread has number p of rows `row` and `row` + 8 of a, then number p + 4 of both; numbers
  // p and p + 4 of column `row` of b.
  std::array<mlir::Value, 4> MultiplyAddTensorFloat32(mlir::Location loc, const Words& a, mlir::Value b_first,
                                                      mlir::Value b_second, llvm::ArrayRef<mlir::Value> c);

 private:
  std::array<mlir::Value, 4> MultiplyAdd(mlir::Location loc, llvm::StringRef name, const Words& a, mlir::Value b_first,
                                         mlir::Value b_second, llvm::ArrayRef<mlir::Value> c);
  mlir::Value Call(mlir::Location loc, llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments);
  // Returns the elements of a vector of four.
  std::array<mlir::Value, 4> Elements(mlir::Location loc, mlir::Value vector);
  mlir::Value Place(mlir::Location loc, int i);

  mlir::OpBuilder& b_;
  mlir::ModuleOp module_;
};

// The names of these functions: i32 td_thread(), i32 td_block(), void td_sync_block(), void td_sync_warp(), i32
// td_shuffle_xor(i32 value, i32 mask), i32 td_arrive(ptr counter, i32 count), ptr td_shared(), f32 td_exp(f32 x), i32
// td_pack_bf16(f32 low, f32 high), i32 td_round_tf32(f32 x), <4 x i32> td_load_matrices(ptr address), <4 x i32>
// td_load_transposed(ptr address), <4 x f32> td_multiply_add(i32 a0, i32 a1, i32 a2, i32 a3, i32 b0, i32 b1, <4 x f32>
// c), and with the same arguments td_multiply_add_tf32.
inline constexpr char kThreadFunction[] = "td_thread";
inline constexpr char kBlockFunction[] = "td_block";
inline constexpr char kSyncBlockFunction[] = "td_sync_block";
inline constexpr char kSyncWarpFunction[] = "td_sync_warp";
inline constexpr char kShuffleFunction[] = "td_shuffle_xor";
inline constexpr char kArriveFunction[] = "td_arrive";
inline constexpr char kSharedFunction[] = "td_shared";
inline constexpr char kExpFunction[] = "td_exp";
inline constexpr char kPackBFloat16Function[] = "td_pack_bf16";
inline constexpr char kRoundTf32Function[] = "td_round_tf32";
inline constexpr char kLoadMatricesFunction[] = "td_load_matrices";
inline constexpr char kLoadTransposedFunction[] = "td_load_transposed";
inline constexpr char kMultiplyAddFunction[] = "td_multiply_add";
inline constexpr char kMultiplyAddTf32Function[] = "td_multiply_add_tf32";

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_GPU_DEVICE_H_
