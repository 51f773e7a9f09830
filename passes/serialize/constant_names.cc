#include "passes/serialize/constant_names.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/content_fingerprint.h"
#include "graph/ir/shape.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/base/report_segments.h"

namespace tandem {
namespace {

// Returns an attribute that is printed as `dense_resource<NAME>` and holds no data.
mlir::DenseResourceElementsAttr NameOnly(mlir::ShapedType type, const std::string& name) {
  mlir::MLIRContext* context = type.getContext();
  auto& interface = mlir::DenseResourceElementsHandle::getManagerInterface(context);
  mlir::DialectResourceBlobManager::BlobEntry* entry = interface.getBlobManager().lookup(name);
  if (entry == nullptr) return mlir::DenseResourceElementsAttr::get(type, interface.insert(name));
  auto* dialect = context->getOrLoadDialect<mlir::BuiltinDialect>();
  return mlir::DenseResourceElementsAttr::get(type, mlir::DenseResourceElementsHandle(entry, dialect));
}

}  // namespace

std::string ConstantBytes(mlir::DenseElementsAttr elements) {
  std::string bytes;
  if (elements.getElementType().isInteger(1)) {
    for (const bool value : elements.getValues<bool>()) bytes.push_back(value ? 1 : 0);
    return bytes;
  }
  const llvm::ArrayRef<char> raw = elements.getRawData();
  const int64_t times = elements.isSplat() ? elements.getNumElements() : 1;
  for (int64_t i = 0; i < times; ++i) bytes.append(raw.data(), raw.size());
  return bytes;
}

std::string ConstantName(llvm::StringRef bytes) {
  return absl::StrCat(kConstantPrefix, ContentFingerprint({bytes.data(), bytes.size()}));
}

mlir::DenseElementsAttr ConstantOfBytes(mlir::ShapedType type, llvm::StringRef bytes) {
  const mlir::Type element = type.getElementType();
  if (element.isInteger(1)) {
    if (static_cast<int64_t>(bytes.size()) != type.getNumElements()) return {};
    llvm::SmallVector<bool> values;
    for (const char byte : bytes) values.push_back(byte != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  const auto size = static_cast<uint64_t>(type.getNumElements()) * (element.getIntOrFloatBitWidth() / 8);
  if (bytes.size() != size) return {};
  return mlir::DenseElementsAttr::getFromRawBuffer(type, {bytes.data(), bytes.size()});
}

const ConstantPrinter::Named& ConstantPrinter::NameOf(mlir::DenseElementsAttr elements) {
  const auto [entry, added] = names_.try_emplace(elements);
  if (added) {
    // The raw data are the bytes that a program has in memory, so no copy is made; except for booleans, which are
    // packed.
    const bool as_they_lie = !elements.getElementType().isInteger(1);
    const llvm::ArrayRef<char> raw = elements.getRawData();
    entry->second.name = as_they_lie ? ConstantName({raw.data(), raw.size()}) : ConstantName(ConstantBytes(elements));
    entry->second.attribute = NameOnly(elements.getType(), entry->second.name);
  }
  return entry->second;
}

std::string ConstantPrinter::Print(mlir::ModuleOp module, int64_t max_elements, const mlir::OpPrintingFlags& flags,
                                   ByName* named) {
  llvm::SmallVector<std::pair<td::ConstantOp, mlir::DenseElementsAttr>> large;
  module.walk([&](td::ConstantOp op) {
    auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(op.getValue());
    if (!elements || elements.isSplat() || elements.getNumElements() <= max_elements) return;
    large.push_back({op, elements});
    const Named& name = NameOf(elements);
    if (named != nullptr) named->insert({name.name, elements});
    op.setValueAttr(name.attribute);
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, flags);
  for (auto& [op, elements] : large) op.setValueAttr(elements);
  return text;
}

}  // namespace tandem
