#include "passes/codegen/gpu/linear_space.h"

namespace tandem {

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
  // Rows follow one another in memory, so 4 elements may be loaded together even across rows. A single fixed row of odd
  // size may begin anywhere in a buffer.
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
  // The points may lie in different places of the outer groups, so the digits of each are computed by themselves.
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

IndexBuilder::Values EmitUnrolled(
    IndexBuilder& b, mlir::Value begin, mlir::Value end, int64_t step, int64_t unroll, const IndexBuilder::Values& init,
    const std::function<IndexBuilder::Values(llvm::ArrayRef<mlir::Value>, const IndexBuilder::Values&)>& body) {
  auto loop = [&](mlir::Value from, mlir::Value to, int64_t count, const IndexBuilder::Values& values) {
    return b.For(from, to, count * step, values, [&](mlir::Value v, const IndexBuilder::Values& before) {
      IndexBuilder::Values all = {v};
      for (int64_t i = 1; i < count; ++i) all.push_back(b.Add(v, i * step));
      return body(all, before);
    });
  };
  if (unroll == 1) return loop(begin, end, 1, init);
  // Up to `middle` there are whole bunches of `unroll` iterations; the others follow one by one.
  mlir::Value last = b.Add(begin, (unroll - 1) * step), rest = b.Max(b.Sub(end, last), b.Int(0));
  mlir::Value middle = b.Add(begin, b.Mul(b.CeilDiv(rest, unroll * step), unroll * step));
  return loop(middle, end, 1, loop(begin, middle, unroll, init));
}

}  // namespace tandem
