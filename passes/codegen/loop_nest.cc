#include "passes/codegen/loop_nest.h"

#include <set>

namespace tandem {
namespace {

constexpr int64_t kDynamicRadix = mlir::ShapedType::kDynamic;

// Returns the radices of all digits that get loops: the rows, if there is a loop over them, then the static part.
llvm::SmallVector<int64_t> LoopRadices(const Space& space) {
  llvm::SmallVector<int64_t> radices;
  if (space.rows == Space::Rows::kLoop) radices.push_back(kDynamicRadix);
  llvm::append_range(radices, space.radices);
  return radices;
}

}  // namespace

llvm::SmallVector<int64_t> InnerShape(mlir::Type type) {
  auto shape = mlir::cast<mlir::RankedTensorType>(type).getShape();
  if (td::IsBatched(type)) shape = shape.drop_front();
  return llvm::SmallVector<int64_t>(shape);
}

llvm::SmallVector<int64_t> CommonRadices(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes) {
  // Products of trailing dimensions: the places in an element's linear index where digits begin.
  std::set<int64_t> borders = {1};
  for (const auto& shape : shapes) {
    int64_t product = 1;
    for (int64_t d : llvm::reverse(shape)) {
      if (d > 0) borders.insert(product *= d);
    }
  }
  llvm::SmallVector<int64_t> radices;
  int64_t previous = 0;
  bool tiles = true;
  for (int64_t border : borders) {
    if (previous != 0) {
      tiles &= border % previous == 0;
      radices.insert(radices.begin(), border / previous);
    }
    previous = border;
  }
  if (tiles) return radices;
  llvm::SmallVector<int64_t> first;
  for (int64_t d : shapes.front()) {
    if (d != 1) first.push_back(d);
  }
  return first;
}

Space ReducedSpace(mlir::Operation* op, const Reduction& reduction) {
  auto shape = mlir::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getShape();
  Space space;
  for (int64_t axis : reduction.axes) {
    if (shape[axis] != 1) space.radices.push_back(shape[axis]);
  }
  return space;
}

Digits FixedDigits(const Space& space) {
  if (space.rows != Space::Rows::kFixed) return {};
  return {{space.row, kDynamicRadix}};
}

llvm::SmallVector<mlir::Value> IndicesAt(ElementEmitter& e, mlir::Location loc, const Point& point, mlir::Type type) {
  auto shape = mlir::cast<mlir::RankedTensorType>(type).getShape();
  Digits digits = point.digits;
  if (!td::IsBatched(type)) return e.indices().Split(loc, digits, shape);
  llvm::SmallVector<mlir::Value> result = {digits.front().value};
  digits.erase(digits.begin());
  llvm::append_range(result, e.indices().Split(loc, digits, shape.drop_front()));
  return result;
}

llvm::SmallVector<LoopGroup> PlanLoops(ElementEmitter& e, mlir::Location loc, const Space& space,
                                       llvm::ArrayRef<unsigned> forced, const PointFn& body) {
  llvm::SmallVector<int64_t> radices = LoopRadices(space);
  IndexProbe probe;
  e.Trial(loc, radices, probe, [&](mlir::Block&) {
    Point point{FixedDigits(space)};
    point.digits.append(probe.digits);
    body(point);
  });
  for (unsigned k : forced) {
    if (k < probe.split.size()) probe.split[k] = true;
  }
  llvm::SmallVector<LoopGroup> groups;
  for (unsigned k = 0; k < radices.size(); ++k) {
    if (k == 0 || probe.split[k - 1]) {
      groups.push_back({k, k});
    } else {
      groups.back().last = k;
    }
  }
  return groups;
}

LoopBounds BoundsOf(ElementEmitter& e, mlir::Location loc, const Space& space, const LoopGroup& group) {
  llvm::SmallVector<int64_t> radices = LoopRadices(space);
  int64_t size = 1;
  bool rows = false;
  for (unsigned k = group.first; k <= group.last; ++k) {
    if (radices[k] == kDynamicRadix) {
      rows = true;
    } else {
      size *= radices[k];
    }
  }
  IndexBuilder at = e.at(loc);
  if (!rows) return {at.Int(0), at.Int(size)};
  return {at.Mul(space.begin, size), at.Mul(space.end, size)};
}

Digits DigitsOf(ElementEmitter& e, mlir::Location loc, const Space& space, const LoopGroup& group,
                mlir::Value variable) {
  llvm::SmallVector<int64_t> radices = LoopRadices(space);
  return e.indices().Cut(loc, variable,
                         llvm::ArrayRef<int64_t>(radices).slice(group.first, group.last - group.first + 1));
}

void EmitNest(ElementEmitter& e, mlir::Location loc, const Space& space, const PointFn& body) {
  llvm::SmallVector<LoopGroup> groups = PlanLoops(e, loc, space, {}, body);
  std::function<void(unsigned, Point)> emit = [&](unsigned depth, Point point) {
    if (depth == groups.size()) return body(point);
    const LoopBounds bounds = BoundsOf(e, loc, space, groups[depth]);
    e.at(loc).For(bounds.begin, bounds.end, 1, [&](mlir::Value variable) {
      Point inner = point;
      inner.digits.append(DigitsOf(e, loc, space, groups[depth], variable));
      emit(depth + 1, inner);
    });
  };
  emit(0, Point{FixedDigits(space)});
}

}  // namespace tandem
