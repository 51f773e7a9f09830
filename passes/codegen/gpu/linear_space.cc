#include "passes/codegen/gpu/linear_space.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tandem {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

LinearSpace::LinearSpace(ElementEmitter& e, mlir::Location loc, const Space& space, unsigned border,
                         const PointFn& body)
    : e_(e),
      loc_(loc),
      space_(space),
      groups_(
          PlanLoops(e, loc, space, border == 0 ? llvm::SmallVector<unsigned>() : llvm::SmallVector{border - 1}, body)) {
  while (border_ < groups_.size() && groups_[border_].first < border) ++border_;
  llvm::SmallVector<int64_t> radices;
  if (space.rows == Space::Rows::kLoop) radices.push_back(mlir::ShapedType::kDynamic);
  llvm::append_range(radices, space.radices);
  for (const LoopGroup& group : groups_) {
    int64_t size = 1;
    bool rows = false;
    for (unsigned k = group.first; k <= group.last; ++k) {
      rows |= mlir::ShapedType::isDynamic(radices[k]);
      if (!mlir::ShapedType::isDynamic(radices[k])) size *= radices[k];
    }
    size_ *= size;
    run_ = size;
    sizes_.push_back(rows ? mlir::ShapedType::kDynamic : size);
  }
}

int LinearSpace::width() const {
  // Not for a fixed row: it may start at any element of a buffer if rows have an odd size.
  if (groups_.size() == 1 && space_.rows == Space::Rows::kLoop) return 4;
  return run_ % 4 == 0 && size_ % 4 == 0 ? 4 : 1;
}

std::vector<Point> LinearSpace::At(mlir::Value first, int count) const {
  if (groups_.empty()) return {Point{FixedDigits(space_)}};
  return Neighbours(e_.indices().Cut(loc_, first, sizes_), count);
}

std::vector<Point> LinearSpace::At(mlir::Value outer, mlir::Value first, int count) const {
  llvm::ArrayRef<int64_t> outer_sizes = llvm::ArrayRef(sizes_).take_front(border_),
                          sizes = llvm::ArrayRef(sizes_).drop_front(border_);
  const auto numbers_of = [&](mlir::Value point) {
    Digits numbers = e_.indices().Cut(loc_, outer, outer_sizes);
    numbers.append(e_.indices().Cut(loc_, point, sizes));
    return numbers;
  };
  if (sizes.size() <= 1 || sizes.back() % count == 0) return Neighbours(numbers_of(first), count);
  // The points may cross the border of the last group, so each is computed by itself.
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) {
    points.push_back(Neighbours(numbers_of(e_.indices().Shift(loc_, first, i)), 1).front());
  }
  return points;
}

std::vector<Point> LinearSpace::Neighbours(const Digits& numbers, int count) const {
  std::vector<Point> points;
  for (int i = 0; i < count; ++i) {
    Point point{FixedDigits(space_)};
    for (unsigned g = 0; g < groups_.size(); ++g) {
      mlir::Value number = numbers[g].value;
      if (g + 1 == groups_.size()) number = e_.indices().Shift(loc_, number, i);
      point.digits.append(DigitsOf(e_, loc_, space_, groups_[g], number));
    }
    points.push_back(std::move(point));
  }
  return points;
}

unsigned DigitsBefore(llvm::ArrayRef<int64_t> radices, int64_t size) {
  unsigned first = radices.size();
  for (int64_t counted = 1; first > 0 && counted < size;) counted *= radices[--first];
  return first;
}

void EmitStrided(ElementEmitter& e, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step,
                 const std::function<void(mlir::Value)>& body) {
  EmitLoop(e, loc, {begin, end}, step, body);
}

std::vector<mlir::Value> EmitStrided(
    ElementEmitter& e, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step,
    const std::vector<mlir::Value>& init,
    const std::function<std::vector<mlir::Value>(mlir::Value, const std::vector<mlir::Value>&)>& body) {
  mlir::OpBuilder& b = e.builder();
  mlir::OpBuilder::InsertionGuard guard(b);
  auto loop = b.create<scf::ForOp>(loc, begin, end, e.indices().Constant(loc, step), init);
  b.setInsertionPointToEnd(loop.getBody());
  std::vector<mlir::Value> arguments(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  b.create<scf::YieldOp>(loc, body(loop.getInductionVar(), arguments));
  return {loop.getResults().begin(), loop.getResults().end()};
}

std::vector<mlir::Value> EmitUnrolled(
    ElementEmitter& e, mlir::Location loc, mlir::Value begin, mlir::Value end, int64_t step, int64_t unroll,
    const std::vector<mlir::Value>& init,
    const std::function<std::vector<mlir::Value>(llvm::ArrayRef<mlir::Value>, const std::vector<mlir::Value>&)>& body) {
  mlir::OpBuilder& b = e.builder();
  auto constant = [&](int64_t v) { return e.indices().Constant(loc, v); };
  auto loop = [&](mlir::Value from, mlir::Value to, int64_t count, const std::vector<mlir::Value>& values) {
    return EmitStrided(e, loc, from, to, count * step, values,
                       [&](mlir::Value v, const std::vector<mlir::Value>& before) {
                         std::vector<mlir::Value> all = {v};
                         for (int64_t i = 1; i < count; ++i) {
                           all.push_back(b.create<arith::AddIOp>(loc, v, constant(i * step)));
                         }
                         return body(all, before);
                       });
  };
  if (unroll == 1) return loop(begin, end, 1, init);
  // `middle` is the end of the whole bunches of `unroll` iterations.
  mlir::Value last = b.create<arith::AddIOp>(loc, begin, constant((unroll - 1) * step));
  mlir::Value rest = b.create<arith::SubIOp>(loc, end, last);
  rest = b.create<arith::MaxSIOp>(loc, rest, constant(0));
  mlir::Value bunches = b.create<arith::AddIOp>(loc, rest, constant(unroll * step - 1));
  bunches = b.create<arith::DivUIOp>(loc, bunches, constant(unroll * step));
  mlir::Value middle = b.create<arith::MulIOp>(loc, bunches, constant(unroll * step));
  middle = b.create<arith::AddIOp>(loc, begin, middle);
  return loop(middle, end, 1, loop(begin, middle, unroll, init));
}

void EmitIf(ElementEmitter& e, mlir::Location loc, mlir::Value condition, const std::function<void()>& body,
            const std::function<void()>& otherwise) {
  mlir::OpBuilder& b = e.builder();
  mlir::OpBuilder::InsertionGuard guard(b);
  auto op = b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/otherwise != nullptr);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  body();
  if (!otherwise) return;
  b.setInsertionPoint(op.elseBlock()->getTerminator());
  otherwise();
}

}  // namespace tandem
