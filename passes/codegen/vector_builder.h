// Short forms of the arith and LLVM ops that kernels with explicit vectors of float32 are written in, with bfloat16 in
// memory and as factors.
#ifndef TANDEM_PASSES_CODEGEN_VECTOR_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_VECTOR_BUILDER_H_

#include <cstdint>
#include <vector>

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/codegen/index_builder.h"

namespace tandem {

// The address of floats in memory. They are float32, or bfloat16 numbers that become float32 in registers.
struct StoredFloats {
  StoredFloats(mlir::Value pointer = nullptr, bool bfloat16 = false) : pointer(pointer), bfloat16(bfloat16) {}
  // Returns the address of `tensor`'s elements, which are at `pointer`, with their type.
  static StoredFloats Of(mlir::Value pointer, mlir::Value tensor) {
    return {pointer, mlir::getElementTypeOrSelf(tensor).isBF16()};
  }
  mlir::Value pointer;
  bool bfloat16;
};

class VectorBuilder : public IndexBuilder {
 public:
  // `width`: the number of floats in a vector. `native_bfloat16`: code may use AVX512-BF16, if `width` is 16.
  VectorBuilder(mlir::OpBuilder& builder, mlir::Location loc, int width, bool native_bfloat16 = false);

  int width() const { return width_; }

  // Returns the address `floats` floats behind `pointer`.
  mlir::Value At(mlir::Value pointer, mlir::Value floats);
  mlir::Value At(mlir::Value pointer, int64_t floats) { return floats == 0 ? pointer : At(pointer, Int(floats)); }

  // Returns the address `elements` elements of two bytes behind `pointer`.
  mlir::Value At16(mlir::Value pointer, mlir::Value elements);
  mlir::Value At16(mlir::Value pointer, int64_t n) { return n == 0 ? pointer : At16(pointer, Int(n)); }

  // Load and store vectors. With `live` < width() only the first `live` elements are accessed, and with a `mask` only
  // the elements that it selects. Elements that are not loaded are 0.
  mlir::Value Load(mlir::Value pointer, int64_t live, mlir::Value mask = nullptr);
  mlir::Value Load(mlir::Value pointer) { return Load(pointer, width_); }
  void Store(mlir::Value vector, mlir::Value pointer, int64_t live, mlir::Value mask = nullptr);
  void Store(mlir::Value vector, mlir::Value pointer) { Store(vector, pointer, width_); }
  // Stores a whole vector, bypassing the caches. The address must be a multiple of the vector's size. Other threads may
  // read it after a Fence.
  void Stream(mlir::Value vector, mlir::Value pointer);
  void Fence();
  // Load and store an address in memory.
  mlir::Value LoadPointer(mlir::Value pointer);
  void StorePointer(mlir::Value value, mlir::Value pointer);
  // Prefetches the cache line of `pointer` into the second-level cache. With `to_write` it goes into the first-level
  // cache and is invalidated in other cores, so that a write does not wait. Any address is allowed, valid or not.
  void Prefetch(mlir::Value pointer, bool to_write = false);
  mlir::Value Scratch(int64_t floats) { return Stack(b_.getF32Type(), floats); }
  // Returns a mask that selects all elements if `condition` is true, else none.
  mlir::Value Mask(mlir::Value condition);
  mlir::Value LoadSplat(mlir::Value pointer);
  // Loads a vector whose element i is pointer[i * stride].
  mlir::Value LoadStrided(mlir::Value pointer, int64_t stride, int64_t live);
  mlir::Value Splat(double value);
  // Sums and products. A sum with a product becomes a fused multiply-add (ApplyFloatRules).
  mlir::Value AddF(mlir::Value a, mlir::Value b);
  mlir::Value SubF(mlir::Value a, mlir::Value b);
  mlir::Value MulF(mlir::Value a, mlir::Value b);
  mlir::Value Relu(mlir::Value v);  // max(v, 0), but NaN stays NaN

  // Load and store vectors of bfloat16 numbers, like Load and Store: float32 in registers, rounded to nearest even when
  // stored.
  mlir::Value Load16(mlir::Value pointer, int64_t live, mlir::Value mask = nullptr);
  mlir::Value LoadStrided16(mlir::Value pointer, int64_t stride, int64_t live);
  void Store16(mlir::Value vector, mlir::Value pointer, int64_t live, mlir::Value mask = nullptr);
  void Store16(mlir::Value vector, mlir::Value pointer) { Store16(vector, pointer, width_); }
  // Addresses and loads of StoredFloats, whichever type they have.
  StoredFloats At(StoredFloats from, mlir::Value n) {
    return {from.bfloat16 ? At16(from.pointer, n) : At(from.pointer, n), from.bfloat16};
  }
  StoredFloats At(StoredFloats from, int64_t n) { return n == 0 ? from : At(from, Int(n)); }
  mlir::Value Load(StoredFloats from, int64_t live) {
    return from.bfloat16 ? Load16(from.pointer, live) : Load(from.pointer, live);
  }
  // Vectors of width() pairs of bfloat16 numbers. Pairs interleaves two float32 vectors: a[0], b[0], a[1], b[1] ...
  // LoadSplatPair loads one pair into all places.
  mlir::Value Pairs(mlir::Value a, mlir::Value b);
  mlir::Value LoadPairs(mlir::Value pointer);
  void StorePairs(mlir::Value pairs, mlir::Value pointer);
  mlir::Value LoadSplatPair(mlir::Value pointer);
  // Returns sum + a[0] * b[0] + a[1] * b[1] for each pair, in float32: one instruction with AVX512-BF16, which takes
  // subnormal numbers for 0.
  mlir::Value AddPairProducts(mlir::Value sum, mlir::Value a, mlir::Value b);

  // Loads two rows of bfloat16 numbers as pairs, a[0], b[0], a[1], b[1] ... The result is typed as a vector of floats,
  // only for Store and Transpose. A null row is zeros.
  mlir::Value LoadPairOfRows(mlir::Value a, mlir::Value b);
  // Returns the columns of the square matrix whose rows are width() vectors.
  std::vector<mlir::Value> Transpose(const std::vector<mlir::Value>& rows);

 private:
  mlir::Value Mask(int64_t live);
  mlir::VectorType VectorType() const;
  mlir::Value Widen(mlir::Value bits);  // `bits`: a vector of i16

  int width_;
  bool native_bfloat16_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_VECTOR_BUILDER_H_
