#include "passes/buffer_table.h"

#include "graph/ir/interfaces.h"

namespace tandem {

int64_t RowBytes(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  int64_t n = SizeOf(td::ToDType(t.getElementType()));
  for (int64_t d : t.getShape().drop_front()) n *= d;
  return n;
}

int64_t StaticBytes(mlir::Type type) {
  auto t = mlir::cast<mlir::RankedTensorType>(type);
  return t.getNumElements() * SizeOf(td::ToDType(t.getElementType()));
}

void SetBuffers(mlir::ModuleOp module, const std::vector<BufferInfo>& buffers) {
  mlir::Builder b(module.getContext());
  llvm::SmallVector<mlir::Attribute> rows;
  for (const BufferInfo& i : buffers) {
    rows.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(i.name)), b.getNamedAttr("space", b.getStringAttr(i.space)),
         b.getNamedAttr("index", b.getI64IntegerAttr(i.index)), b.getNamedAttr("offset", b.getI64IntegerAttr(i.offset)),
         b.getNamedAttr("bytes", b.getI64IntegerAttr(i.bytes)),
         b.getNamedAttr("row_bytes", b.getI64IntegerAttr(i.row_bytes)),
         b.getNamedAttr("type", mlir::TypeAttr::get(i.type))}));
  }
  module->setAttr("td.buffers", b.getArrayAttr(rows));
}

std::vector<BufferInfo> GetBuffers(mlir::ModuleOp module) {
  std::vector<BufferInfo> buffers;
  auto rows = module->getAttrOfType<mlir::ArrayAttr>("td.buffers");
  if (!rows) return buffers;
  for (mlir::Attribute a : rows) {
    auto d = mlir::cast<mlir::DictionaryAttr>(a);
    auto number = [&](llvm::StringRef key) { return mlir::cast<mlir::IntegerAttr>(d.get(key)).getInt(); };
    BufferInfo& i = buffers.emplace_back();
    i.name = mlir::cast<mlir::StringAttr>(d.get("name")).getValue().str();
    i.space = mlir::cast<mlir::StringAttr>(d.get("space")).getValue().str();
    i.index = number("index");
    i.offset = number("offset");
    i.bytes = number("bytes");
    i.row_bytes = number("row_bytes");
    i.type = mlir::cast<mlir::RankedTensorType>(mlir::cast<mlir::TypeAttr>(d.get("type")).getValue());
  }
  return buffers;
}

}  // namespace tandem
