#include "passes/base/pass_util.h"

#include "absl/strings/match.h"
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/exec/dialect.h"

namespace tandem {

mlir::OpBuilder BehindValue(exec::MapMicrobatchesOp map, mlir::Value value) {
  mlir::OpBuilder builder(map);
  if (value.getDefiningOp() != nullptr) builder.setInsertionPointAfterValue(value);
  return builder;
}

void EraseUnusedOperands(exec::MapMicrobatchesOp map) {
  mlir::Block& body = map.getBody().front();
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (mlir::isOpTriviallyDead(&op)) op.erase();
  }
  for (unsigned i = map.getNumOperands(); i-- > 0;) {
    if (!body.getArgument(i).use_empty()) continue;
    mlir::Operation* maker = map.getOperand(i).getDefiningOp();
    body.eraseArgument(i);
    map.getOperandsMutable().erase(i);
    // The operand may be made by a chain of ops, for example a view of a cast of a variable.
    while (maker != nullptr && mlir::isOpTriviallyDead(maker)) {
      mlir::Operation* before = maker->getNumOperands() == 1 ? maker->getOperand(0).getDefiningOp() : nullptr;
      maker->erase();
      maker = before;
    }
  }
}

std::optional<double> SplatOf(mlir::Value value) {
  while (auto broadcast = value.getDefiningOp<td::BroadcastOp>()) value = broadcast.getInput();
  mlir::DenseFPElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)) || !elements.isSplat()) return std::nullopt;
  return elements.getSplatValue<llvm::APFloat>().convertToDouble();
}

std::string LocationName(mlir::Location loc) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc)) return name.getName().str();
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc)) {
    for (mlir::Location l : fused.getLocations()) {
      if (std::string s = LocationName(l); !s.empty()) return s;
    }
  }
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(loc)) return LocationName(call.getCallee());
  return "";
}

bool IsGradient(mlir::Operation* op) { return absl::StartsWith(LocationName(op->getLoc()), kGradientScope); }

// A kernel holds several ops: the name is that of the op that makes the value, not of the first one in the kernel.
std::string ValueName(mlir::Value value) {
  if (auto map = value.getDefiningOp<exec::MapMicrobatchesOp>()) {
    unsigned i = mlir::cast<mlir::OpResult>(value).getResultNumber();
    return ValueName(map.getBody().front().getTerminator()->getOperand(i));
  }
  if (auto launch = value.getDefiningOp<exec::LaunchOp>()) {
    auto kernel = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(launch, launch.getKernelAttr());
    unsigned i = mlir::cast<mlir::OpResult>(value).getResultNumber();
    // A kernel that several launches share has the names of the first launch's ops inside (td-outline-kernels).
    if (auto names = launch->getAttrOfType<mlir::ArrayAttr>(kLaunchNames)) {
      return mlir::cast<mlir::StringAttr>(names[i]).str();
    }
    return LocationName(kernel.getBody().front().getTerminator()->getOperand(i).getLoc());
  }
  return LocationName(value.getLoc());
}

bool LocationFileLine(mlir::Location loc, std::string* file, int* line) {
  if (auto f = mlir::dyn_cast<mlir::FileLineColLoc>(loc)) {
    *file = f.getFilename().str();
    *line = static_cast<int>(f.getLine());
    return true;
  }
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc)) return LocationFileLine(name.getChildLoc(), file, line);
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc)) {
    for (mlir::Location l : fused.getLocations()) {
      if (LocationFileLine(l, file, line)) return true;
    }
  }
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(loc)) {
    return LocationFileLine(call.getCallee(), file, line) || LocationFileLine(call.getCaller(), file, line);
  }
  return false;
}

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

}  // namespace tandem
