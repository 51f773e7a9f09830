// Einsum: sums of products, with dimensions named by letters.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::Usable;

namespace {

constexpr char kEinsum[] = "einsum";

bool HasLetter(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// Returns the letters of `letters` for which `keep` is true.
template <typename F>
std::string Filtered(const std::string& letters, F keep) {
  std::string result;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(result), keep);
  return result;
}

// A tensor and the letters that name its dimensions.
struct Labelled {
  std::string letters;
  Tensor tensor;
};

// An equation whose letters and shapes have been checked.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
  std::map<char, int64_t> sizes;  // size by letter; kBatch for the batch
  char batch = 0;                 // the letter of the batch; 0: no operand is batched

  int64_t Product(const std::string& letters) const {
    int64_t product = 1;
    for (char c : letters) product *= sizes.at(c);
    return product;
  }
  Shape Sizes(const std::string& letters) const {
    Shape shape;
    for (char c : letters) shape.push_back(sizes.at(c));
    return shape;
  }
};

// Parses the terms of "ij,jk->ik". Returns what is wrong, or "".
std::string ParseEquation(const std::string& equation, size_t operands, Equation* parsed) {
  const std::string text = Filtered(equation, [](char c) { return c != ' '; });
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) return "has no \"->\"; write the output behind it, as in \"ij,jk->ik\"";
  parsed->inputs = absl::StrSplit(text.substr(0, arrow), ',');
  parsed->output = text.substr(arrow + 2);
  if (parsed->inputs.size() != operands) {
    return absl::StrCat("names ", parsed->inputs.size(), " operands, and there are ", operands);
  }
  std::vector<std::string> terms = parsed->inputs;
  terms.push_back(parsed->output);
  for (const std::string& term : terms) {
    for (char c : term) {
      if (c < 'a' || c > 'z') {
        return absl::StrCat("has \"", std::string(1, c), "\"; dimensions are lower-case letters, each written out");
      }
      if (std::count(term.begin(), term.end(), c) > 1) {
        return absl::StrCat("has ", std::string(1, c), " twice in \"", term,
                            "\"; diagonals do not exist: multiply with a one-hot matrix");
      }
    }
  }
  return "";
}

// Checks the operands' shapes and sets the sizes and the batch letter. Returns what is wrong, or "".
std::string MatchShapes(const std::vector<Tensor>& xs, Equation* parsed) {
  for (size_t i = 0; i < xs.size(); ++i) {
    const Shape shape = xs[i].shape();
    const std::string& letters = parsed->inputs[i];
    if (shape.size() != letters.size()) {
      return absl::StrCat("names ", letters.size(), " dimensions of operand ", i, ", which is ", ShapeString(shape));
    }
    if (!shape.empty() && shape[0] == kBatch) {
      if (parsed->batch != 0 && parsed->batch != letters[0]) {
        return absl::StrCat("gives the batch two letters, ", std::string(1, parsed->batch), " and ",
                            std::string(1, letters[0]), ": rows of the batch would mix; use one");
      }
      parsed->batch = letters[0];
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      const auto [known, is_new] = parsed->sizes.emplace(letters[d], shape[d]);
      if (is_new || known->second == shape[d]) continue;
      return absl::StrCat("has ", std::string(1, letters[d]), " of two sizes in operands ", ShapeString(xs[0].shape()),
                          " and ", ShapeString(xs[1].shape()));
    }
  }
  for (size_t i = 0; i < parsed->output.size(); ++i) {
    const char c = parsed->output[i];
    if (parsed->sizes.count(c) == 0) return absl::StrCat("has ", std::string(1, c), " in the output only");
    if (c == parsed->batch && i > 0) {
      return absl::StrCat("moves the batch, ", std::string(1, c), "; it must be the output's first letter");
    }
  }
  return "";
}

// Transposes x to another order of its letters.
Tensor Arranged(const Labelled& x, const std::string& letters, SourceLocation loc) {
  if (x.letters == letters) return x.tensor;
  std::vector<int64_t> permutation;
  for (char c : letters) permutation.push_back(static_cast<int64_t>(x.letters.find(c)));
  return Transpose(x.tensor, permutation, loc);
}

// Sums x over the letters that are not in `wanted`.
Labelled SummedUp(const Labelled& x, const std::string& wanted, SourceLocation loc) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    if (!HasLetter(wanted, x.letters[i])) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return x;
  return {Filtered(x.letters, [&](char c) { return HasLetter(wanted, c); }), ReduceSum(x.tensor, axes, false, loc)};
}

// Multiplies element by element, then sums.
Labelled Multiplied(const Equation& e, const Labelled& x, const Labelled& y, SourceLocation loc) {
  const bool batched = HasLetter(x.letters, e.batch) || HasLetter(y.letters, e.batch);
  std::string all = batched ? std::string(1, e.batch) : "";
  for (const std::string& letters : {e.output, x.letters, y.letters}) {
    for (char c : letters) {
      if (!HasLetter(all, c)) all += c;
    }
  }
  auto aligned = [&](const Labelled& t) {
    const std::string order = Filtered(all, [&](char c) { return HasLetter(t.letters, c); });
    Shape shape;
    for (char c : all) {
      if (HasLetter(order, c)) {
        shape.push_back(e.sizes.at(c));
      } else if (!shape.empty()) {
        shape.push_back(1);  // broadcasting adds missing leading dimensions itself
      }
    }
    return Reshape(Arranged(t, order, loc), shape, loc);
  };
  return SummedUp({all, Mul(aligned(x), aligned(y), loc)}, e.output, loc);
}

Labelled Contracted(const Equation& e, Labelled x, Labelled y, SourceLocation loc) {
  if (HasLetter(y.letters, e.batch) && !HasLetter(x.letters, e.batch)) std::swap(x, y);
  const std::string& out = e.output;
  const std::string in_order = (e.batch != 0 && !HasLetter(out, e.batch) ? std::string(1, e.batch) : "") + out;
  // Sorts the letters: `both` are in both operands and the output, `summed` in both operands only, `rows` in x and the
  // output, `columns` in y and the output.
  const std::string both = Filtered(
      in_order, [&](char c) { return HasLetter(out, c) && HasLetter(x.letters, c) && HasLetter(y.letters, c); });
  std::string summed = Filtered(x.letters, [&](char c) { return HasLetter(y.letters, c) && !HasLetter(out, c); });
  const std::string rows = Filtered(out, [&](char c) { return HasLetter(x.letters, c) && !HasLetter(y.letters, c); });
  const std::string columns =
      Filtered(out, [&](char c) { return !HasLetter(x.letters, c) && HasLetter(y.letters, c); });
  const int64_t k = e.Product(summed), n = e.Product(columns);
  const bool sums_batch = HasLetter(summed, e.batch);
  if (summed.empty() || (rows.empty() && columns.empty())) return Multiplied(e, x, y, loc);

  if (both.empty() && sums_batch) {  // [b, k, m] x [b, k, n] over the batch is [m, n]
    auto rows_first = [&](const Labelled& t, const std::string& last) {
      Shape shape = e.Sizes(summed);  // the batch is the first letter of x, so it comes first here too
      shape.push_back(e.Product(last));
      return Reshape(Arranged(t, summed + last, loc), shape, loc);
    };
    Tensor z = MatMul(rows_first(x, rows), rows_first(y, columns), true, false, loc);
    return {rows + columns, Reshape(z, e.Sizes(rows + columns), loc)};
  }
  if (both.empty()) {  // [m..., k] x [k, n]
    Shape shape = rows.empty() ? Shape{1} : e.Sizes(rows);
    shape.push_back(k);
    const bool transposed = y.letters == columns + summed;
    Tensor a = Reshape(Arranged(x, rows + summed, loc), shape, loc);
    Tensor b = transposed ? Reshape(y.tensor, {n, k}, loc) : Reshape(Arranged(y, summed + columns, loc), {k, n}, loc);
    return {rows + columns, Reshape(MatMul(a, b, false, transposed, loc), e.Sizes(rows + columns), loc)};
  }
  if (sums_batch || (e.batch != 0 && !HasLetter(both, e.batch))) return Multiplied(e, x, y, loc);

  // [..., m, k] x [..., k, n], with one or two leading dimensions.
  Shape leading = {both[0] == e.batch ? kBatch : e.Product(both)};
  if (leading[0] == kBatch && both.size() > 1) leading.push_back(e.Product(both.substr(1)));
  auto matrices = [&](const Labelled& t, const std::string& order, int64_t height, int64_t width) {
    Shape shape = leading;
    shape.insert(shape.end(), {height, width});
    return Reshape(Arranged(t, order, loc), shape, loc);
  };
  const int64_t m = e.Product(rows);
  BatchMatMulOptions options;
  options.transpose_a = x.letters == both + summed + rows && !rows.empty();
  options.transpose_b = y.letters == both + columns + summed && !columns.empty();
  Tensor a = options.transpose_a ? matrices(x, x.letters, k, m) : matrices(x, both + rows + summed, m, k);
  Tensor b = options.transpose_b ? matrices(y, y.letters, n, k) : matrices(y, both + summed + columns, k, n);
  const std::string letters = both + rows + columns;
  return {letters, Reshape(BatchMatMul(a, b, options, loc), e.Sizes(letters), loc)};
}

}  // namespace

Tensor Einsum(const std::string& equation, const std::vector<Tensor>& xs, SourceLocation loc) {
  Tensor failed;
  if (!Usable(kEinsum, xs, loc, &failed)) return failed;
  GraphBuilder* graph = xs[0].graph();
  if (xs.size() > 2) {
    return graph->FailAt(kEinsum,
                         absl::StrCat("takes one or two operands, got ", xs.size(), "; multiply two at a time"), loc);
  }
  for (const Tensor& x : xs) {
    if (!internal::CheckFloats(kEinsum, x, loc)) return graph->Poisoned();
  }
  if (xs.back().dtype() != xs[0].dtype()) {
    return graph->FailAt(kEinsum,
                         absl::StrCat("operands are ", Name(xs[0].dtype()), " ", ShapeString(xs[0].shape()), " and ",
                                      Name(xs[1].dtype()), " ", ShapeString(xs[1].shape()), "; Cast one of them"),
                         loc);
  }
  Equation e;
  std::string problem = ParseEquation(equation, xs.size(), &e);
  if (problem.empty()) problem = MatchShapes(xs, &e);
  if (!problem.empty()) {
    return graph->FailAt(kEinsum, absl::StrCat("the equation \"", equation, "\" ", problem), loc);
  }
  NameScope scope(graph, graph->UniqueName(kEinsum));
  Labelled result = {e.inputs[0], xs[0]};
  if (xs.size() == 1) {
    result = SummedUp(result, e.output, loc);
  } else {
    Labelled other = {e.inputs[1], xs[1]};
    result = SummedUp(result, e.output + other.letters, loc);
    other = SummedUp(other, e.output + e.inputs[0], loc);
    result = Contracted(e, result, other, loc);
  }
  return Arranged(result, e.output, loc);
}

}  // namespace tandem
