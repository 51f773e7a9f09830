#include "graph/module/graph_parts.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/fingerprint.h"
#include "base/shortest_number.h"
#include "graph/ir/dialect.h"
#include "graph/module/graph_module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tandem {
namespace {

template <typename Values>
std::string List(const Values& values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

// Prints an attribute; an enumeration such as "#td<reduce_kind sum>" as its word, sum.
std::string Printed(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  absl::string_view word = text;
  if (!absl::ConsumePrefix(&word, "#td<") || !absl::ConsumeSuffix(&word, ">")) return text;
  return std::string(word.substr(word.rfind(' ') + 1));
}

std::string Text(mlir::Attribute attribute);

std::string ElementsText(mlir::DenseElementsAttr elements) {
  constexpr int64_t kMostShown = 8;
  if (elements.isSplat()) return Text(elements.getSplatValue<mlir::Attribute>());
  if (elements.getNumElements() <= kMostShown) {
    std::vector<std::string> values;
    for (mlir::Attribute value : elements.getValues<mlir::Attribute>()) values.push_back(Text(value));
    return List(values);
  }
  const llvm::ArrayRef<char> raw = elements.getRawData();
  return absl::StrCat(elements.getNumElements(), " numbers of fingerprint ",
                      absl::Hex(Fingerprint64({raw.data(), raw.size()}), absl::kZeroPad16));
}

std::string Text(mlir::Attribute attribute) {
  if (auto value = mlir::dyn_cast<mlir::BoolAttr>(attribute)) return value.getValue() ? "true" : "false";
  if (auto value = mlir::dyn_cast<mlir::FloatAttr>(attribute)) {
    const double number = value.getValueAsDouble();
    return value.getType().isF32() ? ShortestNumber(static_cast<float>(number)) : ShortestNumber(number);
  }
  if (auto value = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) return llvm::toString(value.getValue(), 10, true);
  if (auto value = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) return List(value.asArrayRef());
  if (auto value = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute)) return ElementsText(value);
  if (auto value = mlir::dyn_cast<mlir::FlatSymbolRefAttr>(attribute)) return value.getValue().str();
  return Printed(attribute);
}

// Prints the attributes: " {beta1 = 0.9, beta2 = 0.999}".
std::string AttributesText(mlir::Operation& op) {
  std::vector<std::string> texts;
  for (const mlir::NamedAttribute& a : op.getAttrDictionary()) {
    texts.push_back(absl::StrCat(a.getName().str(), " = ", Text(a.getValue())));
  }
  return texts.empty() ? "" : absl::StrCat(" {", absl::StrJoin(texts, ", "), "}");
}

std::string TypeText(DType dtype, const Shape& shape) { return absl::StrCat(Name(dtype), " ", ShapeString(shape)); }

std::string InitializerText(const VariableSpec& v) {
  if (v.first_value != nullptr) return "a first value of its own";
  const Initializer& i = v.initializer;
  switch (i.kind) {
    case Initializer::Kind::kZeros:
      return "zeros";
    case Initializer::Kind::kConstant:
      return absl::StrCat("all ", ShortestNumber(i.a));
    case Initializer::Kind::kUniform:
      return absl::StrCat("uniform in [", ShortestNumber(i.a), ", ", ShortestNumber(i.b), ")");
    case Initializer::Kind::kTruncatedNormal:
    case Initializer::Kind::kNormal:
      return absl::StrCat(i.kind == Initializer::Kind::kNormal ? "uncut normal of mean " : "normal of mean ",
                          ShortestNumber(i.a), " and deviation ", ShortestNumber(i.b));
  }
  return "";
}

std::string SourceText(mlir::Operation& op) {
  const std::string at = internal::LocationFileLine(op.getLoc());
  return at.empty() ? "" : absl::StrCat(", at ", at);
}

std::string VariableText(const VariableSpec& v) {
  return absl::StrCat(TypeText(v.dtype, v.shape), v.trainable ? ", trainable" : "",
                      v.slot_of.empty() ? "" : absl::StrCat(", a slot of ", v.slot_of), ", ", InitializerText(v));
}

class OpTexts {
 public:
  // Returns the description of the next op. Call it for all ops in the order of the graph.
  std::string Next(mlir::Operation& op) {
    std::vector<std::string> operands, results;
    for (mlir::Value operand : op.getOperands()) operands.push_back(names_.lookup(operand));
    const std::string name = internal::LocationName(op.getLoc());
    for (mlir::OpResult result : op.getResults()) {
      const unsigned number = result.getResultNumber();
      names_[result] = number == 0 ? name : absl::StrCat(name, ":", number);
      auto type = mlir::cast<mlir::RankedTensorType>(result.getType());
      results.push_back(TypeText(td::ToDType(type.getElementType()), td::ToShape(type)));
    }
    return absl::StrCat(op.getName().stripDialect().str(), AttributesText(op), operands.empty() ? "" : " of ",
                        absl::StrJoin(operands, ", "), results.empty() ? "" : ": ", absl::StrJoin(results, ", "),
                        SourceText(op));
  }

 private:
  llvm::DenseMap<mlir::Value, std::string> names_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> GraphPartsOf(const GraphBuilder& graph) {
  std::vector<std::pair<std::string, std::string>> parts;
  mlir::ModuleOp module = graph.module().module();
  for (const VariableSpec& v : graph.variables()) {
    parts.emplace_back(absl::StrCat("the variable ", v.name),
                       absl::StrCat(VariableText(v), SourceText(*module.lookupSymbol(v.name))));
  }
  OpTexts texts;
  for (mlir::Operation& op : graph.module().main().getBody().front()) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
    parts.emplace_back(absl::StrCat("the op ", internal::LocationName(op.getLoc())), texts.Next(op));
  }
  return parts;
}

}  // namespace tandem
