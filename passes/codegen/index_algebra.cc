#include "passes/codegen/index_algebra.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"

namespace tandem {
namespace {

namespace arith = mlir::arith;

constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;

// Returns x for `x + 0` and `x - 0`, which index maps with zero offsets leave behind.
mlir::Value SkipNoop(mlir::Value v) {
  while (mlir::Operation* op = v.getDefiningOp()) {
    if (!mlir::isa<arith::AddIOp, arith::SubIOp>(op) || !mlir::matchPattern(op->getOperand(1), mlir::m_Zero())) break;
    v = op->getOperand(0);
  }
  return v;
}

}  // namespace

Digits IndexAlgebra::DigitsOf(mlir::ValueRange indices, llvm::ArrayRef<int64_t> dims) {
  Digits digits;
  for (auto [index, dim] : llvm::zip(indices, dims)) {
    if (dim == 1) continue;
    mlir::Value v = SkipNoop(index);
    auto composite = state_.composites.find(v);
    int64_t size = 1;
    if (composite != state_.composites.end()) {
      for (const Digit& d : composite->second) size = d.radix == kDynamic ? kDynamic : size * d.radix;
    }
    // A loop over a slice is shorter than the dimension that it indexes. Then its digits do not make up the dimension,
    // and the index is one digit.
    if (composite == state_.composites.end() || size != dim) {
      digits.push_back({v, dim});
    } else {
      digits.append(composite->second);
    }
  }
  return Merge(std::move(digits));
}

Digits IndexAlgebra::Merge(Digits digits) {
  for (unsigned i = 0; i < digits.size();) {
    auto first = state_.children.find(digits[i].value);
    if (first == state_.children.end() || first->second.position != 0 || i + first->second.count > digits.size()) {
      ++i;
      continue;
    }
    Child head = first->second;
    bool whole = true;
    for (unsigned k = 1; k < head.count; ++k) {
      auto it = state_.children.find(digits[i + k].value);
      whole &= it != state_.children.end() && it->second.parent == head.parent && it->second.position == k &&
               it->second.radix == digits[i + k].radix;
    }
    whole &= head.radix == digits[i].radix;
    if (!whole) {
      ++i;
      continue;
    }
    digits.erase(digits.begin() + i, digits.begin() + i + head.count);
    digits.insert(digits.begin() + i, Digit{head.parent, head.parent_radix});
    i = 0;  // searches again, since the parent may be a part of another digit
  }
  return digits;
}

mlir::Value IndexAlgebra::Shift(mlir::Location loc, mlir::Value digit, int64_t distance) {
  if (distance == 0) return digit;
  mlir::Value sum = At(loc).Add(digit, distance);
  state_.shifted[sum] = {digit, distance};
  return sum;
}

mlir::Value IndexAlgebra::Compose(mlir::Location loc, Digits digits) {
  Digits original = digits;
  int64_t distance = 0, scale = 1;
  for (Digit& d : llvm::reverse(digits)) {
    if (auto shifted = state_.shifted.find(d.value); shifted != state_.shifted.end() && probe == nullptr) {
      d.value = shifted->second.first;
      distance += shifted->second.second * scale;
    }
    scale = d.radix == kDynamic ? 0 : scale * d.radix;
  }
  if (distance != 0 && digits.size() > 1) {
    mlir::Value sum = At(loc).Add(Compose(loc, digits), distance);
    state_.composites[sum] = original;
    return sum;
  }
  digits = Merge(std::move(original));
  if (digits.empty()) return At(loc).Int(0);
  if (digits.size() == 1) return digits[0].value;
  mlir::Value result;
  if (probe != nullptr) {
    result = At(loc).Int(0);
  } else {
    result = digits[0].value;
    for (const Digit& d : llvm::drop_begin(digits)) result = At(loc).Add(At(loc).Mul(result, d.radix), d.value);
  }
  state_.composites[result] = digits;
  return result;
}

void IndexAlgebra::Record(const Digits& digits) {
  auto place = [&](mlir::Value v) -> int {
    auto it = llvm::find_if(probe->digits, [&](const Digit& d) { return d.value == v; });
    return it == probe->digits.end() ? -2 : static_cast<int>(it - probe->digits.begin());
  };
  for (size_t i = 0; i < digits.size(); ++i) {
    int k = place(digits[i].value);
    if (k < 0) continue;
    if (k > 0 && digits[i].radix != probe->digits[k].radix) probe->split[k - 1] = true;
    if (k > 0 && (i == 0 || place(digits[i - 1].value) != k - 1)) probe->split[k - 1] = true;
    if (k + 1 < static_cast<int>(probe->digits.size()) &&
        (i + 1 == digits.size() || place(digits[i + 1].value) != k + 1)) {
      probe->split[k] = true;
    }
  }
}

mlir::Value IndexAlgebra::Linearize(mlir::Location loc, mlir::ValueRange indices, llvm::ArrayRef<int64_t> dims) {
  Digits digits = DigitsOf(indices, dims);
  if (probe != nullptr) {
    Record(digits);
    return At(loc).Int(0);
  }
  return Compose(loc, std::move(digits));
}

Digits IndexAlgebra::Cut(mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> radices) {
  if (radices.size() == 1) return {{value, radices[0]}};
  Digits digits(radices.size());
  int64_t total = 1;
  for (int64_t r : radices) total = r == kDynamic || total == kDynamic ? kDynamic : total * r;
  mlir::Value rest = value;
  for (unsigned k = radices.size(); k-- > 0;) {
    digits[k].radix = radices[k];
    if (k == 0) {
      digits[k].value = rest;
    } else {
      digits[k].value = At(loc).Rem(rest, radices[k]);
      rest = At(loc).Div(rest, radices[k]);
    }
  }
  for (unsigned k = 0; k < radices.size(); ++k) {
    state_.children[digits[k].value] = {value, total, radices[k], k, static_cast<unsigned>(radices.size())};
  }
  return digits;
}

llvm::SmallVector<mlir::Value> IndexAlgebra::Split(mlir::Location loc, Digits digits, llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<mlir::Value> result(dims.size());
  Digits rest = Merge(std::move(digits));
  for (unsigned k = dims.size(); k-- > 0;) {
    if (dims[k] == 1) {
      result[k] = At(loc).Int(0);
      continue;
    }
    bool outermost = llvm::all_of(dims.take_front(k), [](int64_t d) { return d == 1; });
    Digits taken;
    if (outermost) {
      taken = rest;
      rest.clear();
    }
    for (int64_t size = 1; !outermost && size < dims[k];) {
      Digit d = rest.pop_back_val();
      int64_t need = dims[k] / size;
      if (d.radix != kDynamic && need % d.radix == 0) {
        taken.insert(taken.begin(), d);
        size *= d.radix;
        continue;
      }
      // The dimension ends inside this digit, so the digit is cut; where sizes do not divide, the whole rest is cut
      // anew.
      Digits parts;
      if (d.radix == kDynamic || d.radix % need == 0) {
        parts = Cut(loc, d.value, {d.radix == kDynamic ? kDynamic : d.radix / need, need});
      } else {
        Digits all = rest;
        all.push_back(d);
        all.append(taken);
        taken.clear();
        int64_t total = 1;
        for (const Digit& x : all) total = x.radix == kDynamic ? kDynamic : total * x.radix;
        rest.clear();
        need = dims[k];
        parts = Cut(loc, Compose(loc, all), {total == kDynamic ? kDynamic : total / need, need});
      }
      rest.push_back(parts[0]);
      taken.insert(taken.begin(), parts[1]);
      size = dims[k];
    }
    result[k] = Compose(loc, taken);
  }
  return result;
}

llvm::SmallVector<mlir::Value> IndexAlgebra::Reshape(mlir::Location loc, mlir::ValueRange indices,
                                                     llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  if (!from.empty() && !to.empty() && from[0] == kDynamic && to[0] == kDynamic) {
    llvm::SmallVector<mlir::Value> result = {indices[0]};  // the index of the batch stays as it is
    llvm::append_range(result, Split(loc, DigitsOf(indices.drop_front(), from.drop_front()), to.drop_front()));
    return result;
  }
  return Split(loc, DigitsOf(indices, from), to);
}

}  // namespace tandem
