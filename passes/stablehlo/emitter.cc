#include "passes/stablehlo/emitter.h"

#include <limits>
#include <numeric>

#include "llvm/ADT/APInt.h"
#include "mlir/IR/TypeUtilities.h"

namespace tandem::stablehlo {

mlir::RankedTensorType TypeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }

mlir::RankedTensorType WithElement(mlir::Type type, mlir::Type element) {
  return mlir::RankedTensorType::get(mlir::cast<mlir::RankedTensorType>(type).getShape(), element);
}

mlir::RankedTensorType ScalarOf(mlir::Type type) {
  return mlir::RankedTensorType::get({}, mlir::getElementTypeOrSelf(type));
}

llvm::SmallVector<int64_t> Counted(int64_t begin, int64_t end) {
  llvm::SmallVector<int64_t> numbers(end - begin);
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

Emitter::Emitter(mlir::Block* block)
    : builder_(mlir::OpBuilder::atBlockEnd(block)), location_(builder_.getUnknownLoc()) {}

mlir::Attribute Emitter::DialectAttribute(llvm::StringRef text) {
  return mlir::OpaqueAttr::get(builder_.getStringAttr("stablehlo"), text, builder_.getNoneType());
}

mlir::Operation* Emitter::Append(llvm::StringRef name, mlir::ValueRange operands, mlir::TypeRange results,
                                 llvm::ArrayRef<mlir::NamedAttribute> attributes, int regions) {
  mlir::OperationState state(location_, ("stablehlo." + name).str());
  state.addOperands(operands);
  state.addTypes(results);
  state.addAttributes(attributes);
  for (int i = 0; i < regions; ++i) state.addRegion();
  return builder_.create(state);
}

mlir::Value Emitter::Op(llvm::StringRef name, mlir::ValueRange operands, mlir::Type result,
                        llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  return Append(name, operands, result, attributes)->getResult(0);
}

mlir::Value Emitter::Constant(mlir::DenseElementsAttr value) {
  mlir::Value& constant = constants_[value];
  if (!constant) constant = Op("constant", {}, value.getType(), Named("value", value));
  return constant;
}

mlir::Value Emitter::Number(double number, mlir::Type type) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  const mlir::Type element = tensor.getElementType();
  mlir::Attribute value = mlir::isa<mlir::FloatType>(element)
                              ? mlir::Attribute(builder_.getFloatAttr(element, number))
                              : builder_.getIntegerAttr(element, static_cast<int64_t>(number));
  return Constant(mlir::DenseElementsAttr::get(tensor, value));
}

mlir::Value Emitter::Numbers(llvm::ArrayRef<double> numbers, mlir::RankedTensorType type) {
  llvm::SmallVector<mlir::Attribute> elements;
  for (const double number : numbers) elements.push_back(builder_.getFloatAttr(type.getElementType(), number));
  return Constant(mlir::DenseElementsAttr::get(type, elements));
}

mlir::Value Emitter::Neutral(llvm::StringRef combine, mlir::Type type) {
  if (combine == "add") return Number(0, type);
  if (combine == "multiply") return Number(1, type);
  const bool is_max = combine == "maximum";
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (mlir::isa<mlir::FloatType>(element)) return Number(is_max ? -kInfinity : kInfinity, type);
  const unsigned bits = element.getIntOrFloatBitWidth();
  const llvm::APInt extreme = is_max ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return Constant(mlir::DenseElementsAttr::get(mlir::cast<mlir::RankedTensorType>(type),
                                               mlir::Attribute(builder_.getIntegerAttr(element, extreme))));
}

mlir::Value Emitter::Compare(llvm::StringRef direction, mlir::Value x, mlir::Value y) {
  const mlir::Type element = TypeOf(x).getElementType();
  const bool is_unsigned = element.isUnsignedInteger() || element.isInteger(1);
  const char* kind = mlir::isa<mlir::FloatType>(element) ? "FLOAT" : is_unsigned ? "UNSIGNED" : "SIGNED";
  return Op("compare", {x, y}, WithElement(x.getType(), builder_.getI1Type()),
            {Named("comparison_direction", "comparison_direction " + direction.str()),
             Named("compare_type", std::string("comparison_type ") + kind)});
}

mlir::Value Emitter::Select(mlir::Value condition, mlir::Value x, mlir::Value y) {
  return Op("select", {condition, x, y}, x.getType());
}

mlir::Value Emitter::Broadcast(mlir::Value x, Ints dims, mlir::Type type) {
  return Op("broadcast_in_dim", x, type, Named("broadcast_dimensions", dims));
}

mlir::Value Emitter::Transpose(mlir::Value x, Ints permutation) {
  llvm::SmallVector<int64_t> shape;
  for (int64_t dimension : permutation) shape.push_back(TypeOf(x).getDimSize(dimension));
  return Op("transpose", x, mlir::RankedTensorType::get(shape, TypeOf(x).getElementType()),
            Named("permutation", permutation));
}

mlir::Value Emitter::Iota(int64_t dimension, mlir::Type type) {
  return Op("iota", {}, type, Named("iota_dimension", dimension));
}

void Emitter::SetBody(mlir::Region& region, mlir::TypeRange elements,
                      const std::function<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>& body) {
  const mlir::OpBuilder::InsertionGuard guard(builder_);
  llvm::SmallVector<mlir::Type> types(elements);
  llvm::append_range(types, elements);
  const llvm::SmallVector<mlir::Location> locations(types.size(), location_);
  mlir::Block* block = builder_.createBlock(&region, {}, types, locations);
  Append("return", body(block->getArguments()), {}, {});
}

mlir::Value Emitter::Reduce(llvm::StringRef combine, mlir::Value x, Ints dims, mlir::Type type) {
  return ReduceTogether(x, Neutral(combine, ScalarOf(type)), dims, type, [&](mlir::ValueRange elements) {
    return llvm::SmallVector<mlir::Value>{Same(combine, elements)};
  })[0];
}

llvm::SmallVector<mlir::Value> Emitter::ReduceTogether(
    mlir::ValueRange values, mlir::ValueRange initial, Ints dims, mlir::TypeRange types,
    const std::function<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>& body) {
  llvm::SmallVector<mlir::Value> operands(values);
  llvm::append_range(operands, initial);
  mlir::Operation* reduce = Append("reduce", operands, types, Named("dimensions", dims), /*regions=*/1);
  SetBody(reduce->getRegion(0), initial.getTypes(), body);
  return llvm::SmallVector<mlir::Value>(reduce->getResults());
}

mlir::Value Emitter::ReduceWindow(llvm::StringRef combine, mlir::Value x, Ints window, Ints strides, Ints low,
                                  Ints high, mlir::Type type) {
  const mlir::Value initial = Neutral(combine, ScalarOf(type));
  mlir::Operation* reduce = Append("reduce_window", {x, initial}, type,
                                   {Named("window_dimensions", Ints{1, window[0], window[1], 1}),
                                    Named("window_strides", Ints{1, strides[0], strides[1], 1}),
                                    Padding({0, low[0], low[1], 0}, {0, high[0], high[1], 0})},
                                   /*regions=*/1);
  SetBody(reduce->getRegion(0), initial.getType(),
          [&](mlir::ValueRange elements) { return llvm::SmallVector<mlir::Value>{Same(combine, elements)}; });
  return reduce->getResult(0);
}

mlir::NamedAttribute Emitter::Flags(llvm::StringRef name, bool value, int64_t count) {
  return Named(name, builder_.getDenseBoolArrayAttr(llvm::SmallVector<bool>(count, value)));
}

mlir::NamedAttribute Emitter::Padding(Ints low, Ints high) {
  llvm::SmallVector<int64_t> pads;
  for (auto [before, behind] : llvm::zip(low, high)) {
    pads.push_back(before);
    pads.push_back(behind);
  }
  const auto type = mlir::RankedTensorType::get({static_cast<int64_t>(low.size()), 2}, builder_.getI64Type());
  return Named("padding", mlir::DenseElementsAttr::get(type, Ints(pads)));
}

mlir::NamedAttribute Emitter::FullPrecision() {
  const mlir::Attribute highest = DialectAttribute("precision HIGHEST");
  return Named("precision_config", builder_.getArrayAttr({highest, highest}));
}

}  // namespace tandem::stablehlo
