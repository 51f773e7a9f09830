#include "graph/module/to_attribute.h"

#include "absl/strings/str_cat.h"
#include "graph/ir/attributes.h"
#include "graph/ir/interfaces.h"
#include "mlir/IR/Builders.h"

namespace tandem::internal {
namespace {

// Returns the attribute of the enumeration's value that `word` names.
template <typename EnumAttr>
absl::StatusOr<mlir::Attribute> FromWord(mlir::MLIRContext* context, absl::string_view key, const std::string& word) {
  using Enum = decltype(EnumAttr().getValue());
  std::string words;
  for (uint32_t i = 0;; ++i) {
    const auto value = static_cast<Enum>(i);
    const std::string known = td::stringifyEnum(value).str();
    if (known.empty()) break;  // `i` is beyond the last value of the enumeration
    if (known == word) return EnumAttr::get(context, value);
    absl::StrAppend(&words, words.empty() ? "" : ", ", known);
  }
  return absl::InvalidArgumentError(absl::StrCat("`", key, "` must be one of ", words, ", got \"", word, "\""));
}

struct Enumeration {
  absl::string_view op, key;
  absl::StatusOr<mlir::Attribute> (*from_word)(mlir::MLIRContext*, absl::string_view, const std::string&);
};

constexpr Enumeration kEnumerations[] = {
    {"batch_moments", "scope", FromWord<td::BatchScopeAttr>},
    {"compare", "predicate", FromWord<td::ComparePredicateAttr>},
    {"cross_replica", "kind", FromWord<td::CrossReplicaKindAttr>},
    {"reduce", "kind", FromWord<td::ReduceKindAttr>},
    {"reduce", "scope", FromWord<td::BatchScopeAttr>},
};

mlir::Attribute ToElements(mlir::MLIRContext* context, const HostTensor& t) {
  if (t.empty()) return {};
  auto type = td::TensorType(context, t.dtype(), t.shape());
  if (t.dtype() == DType::kBool) {  // a raw buffer of booleans would be one bit per element
    llvm::SmallVector<bool> values;
    for (int64_t i = 0; i < t.num_elements(); ++i) values.push_back(static_cast<const uint8_t*>(t.raw())[i] != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  return mlir::DenseElementsAttr::getFromRawBuffer(
      type, llvm::ArrayRef(static_cast<const char*>(t.raw()), static_cast<size_t>(t.byte_size())));
}

// Converts a value to the attribute of its C++ type, whatever the op and the key; null for an empty HostTensor.
struct ByType {
  mlir::Builder b;
  mlir::Attribute operator()(bool v) { return b.getBoolAttr(v); }
  mlir::Attribute operator()(int64_t v) { return b.getI64IntegerAttr(v); }
  mlir::Attribute operator()(double v) { return b.getF64FloatAttr(v); }
  mlir::Attribute operator()(const std::string& v) { return b.getStringAttr(v); }
  mlir::Attribute operator()(const std::vector<int64_t>& v) { return b.getDenseI64ArrayAttr(v); }
  mlir::Attribute operator()(const std::vector<double>& v) { return b.getDenseF64ArrayAttr(v); }
  mlir::Attribute operator()(DType v) { return mlir::TypeAttr::get(td::FromDType(b.getContext(), v)); }
  mlir::Attribute operator()(const HostTensor& v) { return ToElements(b.getContext(), v); }
};

}  // namespace

absl::StatusOr<mlir::Attribute> ToAttribute(mlir::MLIRContext* context, absl::string_view op, absl::string_view key,
                                            const Attr& value) {
  if (const auto* word = std::get_if<std::string>(&value)) {
    for (const Enumeration& e : kEnumerations) {
      if (e.op == op && e.key == key) return e.from_word(context, key, *word);
    }
  }
  mlir::Attribute attribute = std::visit(ByType{mlir::Builder(context)}, value);
  if (!attribute) return absl::InvalidArgumentError(absl::StrCat("attribute ", key, " is empty"));
  return attribute;
}

}  // namespace tandem::internal
