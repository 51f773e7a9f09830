// Short forms of the ops that emitted kernels compute indices and addresses with, and of loops over indices.
#ifndef TANDEM_PASSES_CODEGEN_INDEX_BUILDER_H_
#define TANDEM_PASSES_CODEGEN_INDEX_BUILDER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace tandem {

class IndexBuilder {
 public:
  IndexBuilder(mlir::OpBuilder& builder, mlir::Location loc) : b_(builder), loc_(loc) {}

  mlir::OpBuilder& builder() { return b_; }
  mlir::Location loc() const { return loc_; }

  // Arithmetic on numbers of type index. Quotients and remainders take an `a` that is not negative, and n > 0.
  mlir::Value Int(int64_t n);
  mlir::Value Index(mlir::Value i64);
  mlir::Value Add(mlir::Value a, mlir::Value b);
  mlir::Value Add(mlir::Value a, int64_t n) { return n == 0 ? a : Add(a, Int(n)); }
  mlir::Value Sub(mlir::Value a, mlir::Value b);
  mlir::Value Mul(mlir::Value a, mlir::Value b);
  mlir::Value Mul(mlir::Value a, int64_t n) { return n == 1 ? a : Mul(a, Int(n)); }
  mlir::Value Div(mlir::Value a, int64_t n);
  mlir::Value CeilDiv(mlir::Value a, int64_t n) { return Div(Add(a, Int(n - 1)), n); }
  mlir::Value Rem(mlir::Value a, int64_t n);
  mlir::Value Min(mlir::Value a, mlir::Value b);
  mlir::Value Max(mlir::Value a, mlir::Value b);

  // Comparisons of numbers of type index, which are signed, and conditions made of such comparisons.
  mlir::Value Equal(mlir::Value a, int64_t n);
  mlir::Value Less(mlir::Value a, mlir::Value b);
  mlir::Value AtMost(mlir::Value a, mlir::Value b);
  mlir::Value AtMost(mlir::Value a, int64_t n) { return AtMost(a, Int(n)); }
  mlir::Value AtLeast(mlir::Value a, int64_t n);
  mlir::Value Within(mlir::Value a, int64_t n);  // 0 <= a < n
  mlir::Value And(mlir::Value a, mlir::Value b);
  mlir::Value Select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // Returns the address `n` elements of type `element` behind `pointer`. `inbounds`: that address is in the same
  // buffer.
  mlir::Value Address(mlir::Value pointer, mlir::Type element, mlir::Value n, bool inbounds = false);
  // Returns memory on the stack, aligned to 64 bytes. Call it outside of all loops.
  mlir::Value Stack(mlir::Type element, int64_t count);

  using Values = std::vector<mlir::Value>;
  void For(mlir::Value from, mlir::Value to, int64_t step, const std::function<void(mlir::Value)>& body);
  void For(int64_t from, int64_t to, int64_t step, const std::function<void(mlir::Value)>& body);
  // Emits a loop with values that are carried from one iteration to the next, and returns their last ones.
  Values For(mlir::Value from, mlir::Value to, int64_t step, const Values& first,
             const std::function<Values(mlir::Value, const Values&)>& body);
  void If(mlir::Value condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  // Returns the values, of these types, of the branch that is taken.
  Values If(mlir::Value condition, mlir::TypeRange types, const std::function<Values()>& then,
            const std::function<Values()>& otherwise);

 protected:
  mlir::OpBuilder& b_;
  mlir::Location loc_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_INDEX_BUILDER_H_
