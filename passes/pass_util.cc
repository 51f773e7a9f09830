#include "passes/pass_util.h"

#include "mlir/IR/Location.h"

namespace tandem {

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

}  // namespace tandem
