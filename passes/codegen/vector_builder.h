// Short forms of the arith, scf and LLVM ops that kernels with explicit vectors of float32 are written in.
#ifndef TANDEM_PASSES_CODEGEN_VECTOR_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_VECTOR_BUILDER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tandem {

class VectorBuilder {
 public:
  // `lanes`: floats of one vector.
  VectorBuilder(mlir::OpBuilder& builder, mlir::Location loc, int lanes);

  int lanes() const { return lanes_; }
  mlir::OpBuilder& builder() { return b_; }
  mlir::Location loc() const { return loc_; }

  // Numbers are of type index. Div and Rem take a that is not negative and n > 0.
  mlir::Value Int(int64_t n);
  mlir::Value Add(mlir::Value a, mlir::Value b);
  mlir::Value Add(mlir::Value a, int64_t n) { return n == 0 ? a : Add(a, Int(n)); }
  mlir::Value Sub(mlir::Value a, mlir::Value b);
  mlir::Value Mul(mlir::Value a, int64_t n);
  mlir::Value Div(mlir::Value a, int64_t n);
  mlir::Value Rem(mlir::Value a, int64_t n);
  mlir::Value Min(mlir::Value a, mlir::Value b);
  mlir::Value Max(mlir::Value a, mlir::Value b);
  mlir::Value Equal(mlir::Value a, int64_t n);
  mlir::Value AtMost(mlir::Value a, int64_t n);   // signed
  mlir::Value AtLeast(mlir::Value a, int64_t n);  // signed
  mlir::Value And(mlir::Value a, mlir::Value b);
  mlir::Value Within(mlir::Value a, int64_t n);  // 0 <= a < n
  mlir::Value Select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // The address `floats` floats behind `pointer`.
  mlir::Value At(mlir::Value pointer, mlir::Value floats);
  mlir::Value At(mlir::Value pointer, int64_t floats) { return floats == 0 ? pointer : At(pointer, Int(floats)); }

  // Vectors. Of a load or store with `live` < lanes() only that many elements are touched, with a `mask` only those
  // that it has; the others load as 0.
  mlir::Value Load(mlir::Value pointer, int64_t live, mlir::Value mask = nullptr);
  mlir::Value Load(mlir::Value pointer) { return Load(pointer, lanes_); }
  void Store(mlir::Value vector, mlir::Value pointer, int64_t live, mlir::Value mask = nullptr);
  void Store(mlir::Value vector, mlir::Value pointer) { Store(vector, pointer, lanes_); }
  // All elements, or none.
  mlir::Value Mask(mlir::Value condition);
  mlir::Value LoadSplat(mlir::Value pointer);
  // Element i is pointer[i * stride].
  mlir::Value LoadStrided(mlir::Value pointer, int64_t stride, int64_t live);
  mlir::Value Splat(double value);
  // Sums and products; a product that only a sum uses becomes a fused multiply-add (ApplyFloatRules).
  mlir::Value AddF(mlir::Value a, mlir::Value b);
  mlir::Value SubF(mlir::Value a, mlir::Value b);
  mlir::Value MulF(mlir::Value a, mlir::Value b);
  mlir::Value Relu(mlir::Value v);  // NaN stays

  using Values = std::vector<mlir::Value>;
  void For(mlir::Value from, mlir::Value to, int64_t step, const std::function<void(mlir::Value)>& body);
  void For(int64_t from, int64_t to, int64_t step, const std::function<void(mlir::Value)>& body);
  // With values that go from one iteration to the next.
  Values For(mlir::Value from, mlir::Value to, int64_t step, const Values& first,
             const std::function<Values(mlir::Value, const Values&)>& body);
  void If(mlir::Value condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});

 private:
  mlir::Value Mask(int64_t live);
  mlir::VectorType VectorType() const;

  mlir::OpBuilder& b_;
  mlir::Location loc_;
  int lanes_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_VECTOR_BUILDER_H_
