#include "passes/codegen/linear_transform.h"

namespace tandem {
namespace {

using mlir::Value;

bool IsZero(Rational r) { return r.numerator == 0; }
Rational Negative(Rational r) { return Rational(-r.numerator, r.denominator); }

struct Term {
  Value value;
  Rational factor;
};

// Returns the sum of factor * value over all terms; null if there are none.
Value Sum(VectorBuilder& v, std::vector<Term> terms) {
  if (terms.empty()) return nullptr;
  // Begins with a term of factor 1, if there is one, which needs no product.
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].factor == Rational(1)) {
      std::swap(terms[0], terms[i]);
      break;
    }
  }
  Value sum = terms[0].value;
  if (!(terms[0].factor == Rational(1))) sum = v.MulF(sum, v.Splat(terms[0].factor.value()));
  for (size_t i = 1; i < terms.size(); ++i) {
    if (terms[i].factor == Rational(1)) {
      sum = v.AddF(sum, terms[i].value);
    } else if (terms[i].factor == Rational(-1)) {
      sum = v.SubF(sum, terms[i].value);
    } else {
      sum = v.AddF(sum, v.MulF(terms[i].value, v.Splat(terms[i].factor.value())));
    }
  }
  return sum;
}

// The matrix while it is being simplified: rows of factors for a list of values, to which common terms are added.
struct System {
  std::vector<Value> values;
  std::vector<std::vector<Rational>> rows;

  // True if two columns are equal except for signs, in at least two rows in which they are not zero.
  bool ColumnsPair(size_t a, size_t b) const {
    int both = 0;
    for (const auto& row : rows) {
      if (IsZero(row[a]) && IsZero(row[b])) continue;
      if (!(row[a] == row[b]) && !(row[a] == Negative(row[b]))) return false;
      ++both;
    }
    return both > 1;
  }

  void PairColumns(VectorBuilder& v, size_t a, size_t b) {
    Value sum = v.AddF(values[a], values[b]), difference = v.SubF(values[a], values[b]);
    values.push_back(sum);
    values.push_back(difference);
    for (auto& row : rows) {
      bool same = row[a] == row[b];
      row.push_back(same ? row[a] : Rational(0));
      row.push_back(same ? Rational(0) : row[a]);
      row[a] = row[b] = 0;
    }
  }

  // True if two rows are equal except for signs, with some equal and some opposite elements.
  bool RowsPair(size_t a, size_t b) const {
    int equal = 0, opposite = 0;
    for (size_t c = 0; c < values.size(); ++c) {
      if (IsZero(rows[a][c]) && IsZero(rows[b][c])) continue;
      if (rows[a][c] == rows[b][c]) {
        ++equal;
      } else if (rows[a][c] == Negative(rows[b][c])) {
        ++opposite;
      } else {
        return false;
      }
    }
    return equal > 0 && opposite > 0 && equal + opposite > 2;
  }
};

}  // namespace

std::vector<Value> EmitTransform(VectorBuilder& v, const RationalMatrix& matrix, const std::vector<Value>& x) {
  System system;
  std::vector<int> columns;
  for (int c = 0; c < matrix.columns; ++c) {
    if (!x[c]) continue;
    columns.push_back(c);
    system.values.push_back(x[c]);
  }
  for (int r = 0; r < matrix.rows; ++r) {
    system.rows.emplace_back();
    for (int c : columns) system.rows.back().push_back(matrix.at(r, c));
  }
  for (size_t a = 0; a < columns.size(); ++a) {
    for (size_t b = a + 1; b < columns.size(); ++b) {
      if (system.ColumnsPair(a, b)) system.PairColumns(v, a, b);
    }
  }
  auto terms = [&](size_t row, auto take) {
    std::vector<Term> list;
    for (size_t c = 0; c < system.values.size(); ++c) {
      if (!IsZero(system.rows[row][c]) && take(c)) list.push_back({system.values[c], system.rows[row][c]});
    }
    return list;
  };
  std::vector<Value> y(matrix.rows);
  std::vector<bool> done(matrix.rows);
  for (int a = 0; a < matrix.rows; ++a) {
    for (int b = a + 1; b < matrix.rows && !done[a]; ++b) {
      if (done[b] || !system.RowsPair(a, b)) continue;
      auto equal = [&](size_t c) { return system.rows[a][c] == system.rows[b][c]; };
      Value even = Sum(v, terms(a, equal));
      std::vector<Term> odd = terms(a, [&](size_t c) { return !equal(c); });
      // A factor that all terms of the odd part have is applied in the last two sums, which become multiply-adds.
      const Rational scale = odd[0].factor;
      for (Term& t : odd) t.factor = t.factor / scale;
      Value rest = Sum(v, odd);
      if (scale == Rational(1)) {
        y[a] = v.AddF(even, rest);
        y[b] = v.SubF(even, rest);
      } else {
        y[a] = v.AddF(even, v.MulF(rest, v.Splat(scale.value())));
        y[b] = v.AddF(even, v.MulF(rest, v.Splat(-scale.value())));
      }
      done[a] = done[b] = true;
    }
    if (!done[a]) y[a] = Sum(v, terms(a, [](size_t) { return true; }));
  }
  return y;
}

std::vector<Value> EmitTransform2D(VectorBuilder& v, const RationalMatrix& matrix, const std::vector<Value>& x) {
  const int n = matrix.columns, m = matrix.rows;
  std::vector<Value> half(static_cast<size_t>(m) * n), y(static_cast<size_t>(m) * m);
  for (int c = 0; c < n; ++c) {
    std::vector<Value> column(n);
    for (int r = 0; r < n; ++r) column[r] = x[r * n + c];
    column = EmitTransform(v, matrix, column);
    for (int r = 0; r < m; ++r) half[r * n + c] = column[r];
  }
  for (int r = 0; r < m; ++r) {
    std::vector<Value> row(half.begin() + r * n, half.begin() + (r + 1) * n);
    row = EmitTransform(v, matrix, row);
    for (int c = 0; c < m; ++c) y[r * m + c] = row[c];
  }
  return y;
}

}  // namespace tandem
