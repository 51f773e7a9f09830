// Emitter: appends StableHLO ops. Debian's MLIR lacks StableHLO, so they are ops of an unregistered dialect, whose
// attributes are written as StableHLO's parser reads them
// (https://github.com/openxla/stablehlo/blob/main/docs/spec.md). MLIR prints such ops in generic form, which readers of
// StableHLO take.
#ifndef TANDEM_PASSES_STABLEHLO_EMITTER_H_
#define TANDEM_PASSES_STABLEHLO_EMITTER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tandem::stablehlo {

using Ints = llvm::ArrayRef<int64_t>;

class Emitter {
 public:
  // Appends to `block`, whose context allows unregistered dialects.
  explicit Emitter(mlir::Block* block);

  // Ops that are appended from now on have this location.
  void SetLocation(mlir::Location location) { location_ = location; }

  // Appends stablehlo.NAME with one result.
  mlir::Value Op(llvm::StringRef name, mlir::ValueRange operands, mlir::Type result,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  // An op whose operands and result have one type.
  mlir::Value Same(llvm::StringRef name, mlir::ValueRange operands) {
    return Op(name, operands, operands[0].getType());
  }

  // Equal constants are one op.
  mlir::Value Constant(mlir::DenseElementsAttr value);
  // `type` with this number in every element.
  mlir::Value Number(double number, mlir::Type type);
  // A constant of floating-point numbers, in row-major order.
  mlir::Value Numbers(llvm::ArrayRef<double> numbers, mlir::RankedTensorType type);
  // Returns what "add", "multiply", "maximum" or "minimum" makes of no elements.
  mlir::Value Neutral(llvm::StringRef combine, mlir::Type type);

  // `direction`: EQ, NE, LT, LE, GT or GE.
  mlir::Value Compare(llvm::StringRef direction, mlir::Value x, mlir::Value y);
  mlir::Value Select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value Convert(mlir::Value x, mlir::Type type) { return Op("convert", x, type); }
  mlir::Value Reshape(mlir::Value x, mlir::Type type) { return Op("reshape", x, type); }
  // Dimension i of `x` becomes dimension dims[i] of the result.
  mlir::Value Broadcast(mlir::Value x, Ints dims, mlir::Type type);
  // Dimension i of the result is dimension permutation[i] of `x`.
  mlir::Value Transpose(mlir::Value x, Ints permutation);
  mlir::Value Iota(int64_t dimension, mlir::Type type);

  // Combines the elements along `dims` by the op of this name: "add", "multiply", "maximum" or "minimum".
  mlir::Value Reduce(llvm::StringRef combine, mlir::Value x, Ints dims, mlir::Type type);
  // Combines the elements of each window of an image [b, h, w, c].
  mlir::Value ReduceWindow(llvm::StringRef combine, mlir::Value x, Ints window, Ints strides, Ints low, Ints high,
                           mlir::Type type);
  // Appends stablehlo.reduce over several values at once. `body` gets the elements of the values so far and of the next
  // ones, and returns what becomes of them. It appends no constants.
  llvm::SmallVector<mlir::Value> ReduceTogether(
      mlir::ValueRange values, mlir::ValueRange initial, Ints dims, mlir::TypeRange types,
      const std::function<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>& body);

  // Attributes.
  mlir::NamedAttribute Named(llvm::StringRef name, mlir::Attribute value) { return builder_.getNamedAttr(name, value); }
  mlir::NamedAttribute Named(llvm::StringRef name, Ints numbers) {
    return Named(name, builder_.getDenseI64ArrayAttr(numbers));
  }
  mlir::NamedAttribute Named(llvm::StringRef name, int64_t number) {
    return Named(name, builder_.getI64IntegerAttr(number));
  }
  // `count` times the same boolean.
  mlir::NamedAttribute Flags(llvm::StringRef name, bool value, int64_t count);
  // An attribute of the dialect: `text` is what follows "#stablehlo.".
  mlir::NamedAttribute Named(llvm::StringRef name, const std::string& text) {
    return Named(name, DialectAttribute(text));
  }
  // The pads before and behind each dimension.
  mlir::NamedAttribute Padding(Ints low, Ints high);
  // Products are computed with the digits of their operands, also where the machine has quicker ones with fewer.
  mlir::NamedAttribute FullPrecision();

 private:
  mlir::Attribute DialectAttribute(llvm::StringRef text);
  mlir::Operation* Append(llvm::StringRef name, mlir::ValueRange operands, mlir::TypeRange results,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes, int regions = 0);
  // Makes `region` a block that gets scalars of these types, twice, and returns what `body` makes of them.
  void SetBody(mlir::Region& region, mlir::TypeRange elements,
               const std::function<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>& body);

  mlir::OpBuilder builder_;
  mlir::Location location_;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants_;
};

mlir::RankedTensorType TypeOf(mlir::Value value);
// Returns `type` with other elements.
mlir::RankedTensorType WithElement(mlir::Type type, mlir::Type element);
// Returns a scalar of the elements of `type`.
mlir::RankedTensorType ScalarOf(mlir::Type type);
// Returns begin, begin + 1, ..., end - 1.
llvm::SmallVector<int64_t> Counted(int64_t begin, int64_t end);

}  // namespace tandem::stablehlo

#endif  // TANDEM_PASSES_STABLEHLO_EMITTER_H_
