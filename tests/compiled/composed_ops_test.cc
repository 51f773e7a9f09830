// The ops that are made of other ops, against plain loops over float64 numbers: 20 random shapes each, with a batch and
// without, on one device and on two, the last of which has a short batch. Slopes are held to differences of the loops.
// Ties, NaN and infinities are in tests/oracle/singular_ops.cc.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

constexpr int64_t kRows = 5;  // of the global batch
constexpr int kDraws = 20;

using Numbers = std::vector<double>;
using Tensors = std::vector<Tensor>;
using Ints = std::vector<int64_t>;

struct Array {
  Shape shape;
  Numbers values;
};
using Arrays = std::vector<Array>;

int64_t Offset(const Shape& shape, const Ints& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + index[d];
  return offset;
}

double Get(const Array& x, const Ints& index) { return x.values[Offset(x.shape, index)]; }

// The element of x that an index of a shape that x broadcasts to means.
double GetBroadcast(const Array& x, const Ints& index) {
  Ints at(index.end() - static_cast<int64_t>(x.shape.size()), index.end());
  for (size_t d = 0; d < at.size(); ++d) at[d] = x.shape[d] == 1 ? 0 : at[d];
  return Get(x, at);
}

Array Make(const Shape& shape, const std::function<double(const Ints&)>& element) {
  Array result{shape, Numbers(NumElements(shape))};
  for (int64_t i = 0; i < static_cast<int64_t>(result.values.size()); ++i) {
    Ints index(shape.size());
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1, rest = i; d >= 0; --d) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    result.values[i] = element(index);
  }
  return result;
}

Ints With(Ints list, int64_t at, int64_t value) {
  list.insert(list.begin() + at, value);
  return list;
}
Ints Without(Ints list, int64_t at) {
  list.erase(list.begin() + at);
  return list;
}
Ints Replaced(Ints list, int64_t at, int64_t value) {
  list[at] = value;
  return list;
}

// Every line along `axis` by itself.
Array MapLines(const Array& x, int64_t axis, const std::function<Numbers(const Numbers&)>& f) {
  auto line = [&](const Ints& index) {
    Numbers numbers;
    for (int64_t i = 0; i < x.shape[axis]; ++i) numbers.push_back(Get(x, Replaced(index, axis, i)));
    return f(numbers);
  };
  const int64_t size = static_cast<int64_t>(line(Ints(x.shape.size(), 0)).size());
  return Make(Replaced(x.shape, axis, size), [&](const Ints& index) { return line(index)[index[axis]]; });
}

// All elements over `axes` to one number.
Array ReduceArray(const Array& x, const Ints& axes, bool keep, const std::function<double(const Numbers&)>& f) {
  Shape kept = x.shape;
  for (int64_t a : axes) kept[a] = 1;
  Array result = Make(kept, [&](const Ints& index) {
    Numbers numbers;
    Make(x.shape, [&](const Ints& from) {
      Ints to = from;
      for (int64_t a : axes) to[a] = 0;
      if (to == index) numbers.push_back(Get(x, from));
      return 0;
    });
    return f(numbers);
  });
  if (keep) return result;
  Shape shape;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) shape.push_back(x.shape[d]);
  }
  result.shape = shape;
  return result;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Int(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool Coin() { return Int(0, 1) == 1; }
  // Half of them have the batch.
  Shape OfRank(int64_t low, int64_t high) {
    Shape shape;
    for (int64_t n = Int(low, high); n > 0; --n) shape.push_back(Int(1, 4));
    if (Coin()) shape[0] = kBatch;
    return shape;
  }
  // An axis that is not the batch; `shape` gets one where it has none.
  int64_t Axis(Shape* shape) {
    if (*shape == Shape{kBatch}) shape->push_back(Int(1, 4));
    return Int((*shape)[0] == kBatch ? 1 : 0, static_cast<int64_t>(shape->size()) - 1);
  }
  // Some axes, increasing.
  Ints Axes(const Shape& shape) {
    Ints axes;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (Coin()) axes.push_back(static_cast<int64_t>(d));
    }
    if (axes.empty()) axes.push_back(static_cast<int64_t>(shape.size()) - 1);
    return axes;
  }
  // `axis` counted from either end.
  int64_t Spelled(int64_t axis, int64_t rank) { return Coin() ? axis : axis - rank; }
  // No two alike, in [-2, 2).
  Numbers Distinct(int64_t n) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine_);
    std::uniform_real_distribution<double> jitter(-0.25, 0.25);
    Numbers numbers;
    for (int64_t i : order) {
      numbers.push_back(static_cast<float>(4 * (static_cast<double>(i) + 0.5 + jitter(engine_)) / n - 2));
    }
    return numbers;
  }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

struct Operand {
  Shape shape;      // the batch is kBatch
  int64_t end = 0;  // 0: a number; otherwise one of the integers 0 to end - 1
};

struct Drawn {
  std::vector<Operand> operands;
  std::function<Tensor(const Tensors&)> op;
  std::function<Array(const Arrays&)> loops;
  std::string what = "";
};

struct OpCase {
  std::string name;
  std::function<Drawn(Random&)> draw;
  int draws = kDraws;
};
void PrintTo(const OpCase& c, std::ostream* os) { *os << c.name; }

Drawn Unary(const Shape& shape, std::function<Tensor(const Tensor&)> op, std::function<Array(const Array&)> loops) {
  return {{{shape}},
          [op = std::move(op)](const Tensors& in) { return op(in[0]); },
          [loops = std::move(loops)](const Arrays& in) { return loops(in[0]); }};
}

Drawn Elementwise(const Shape& shape, std::function<Tensor(const Tensor&)> op, std::function<double(double)> f) {
  return Unary(shape, std::move(op), [f = std::move(f)](const Array& x) {
    return Make(x.shape, [&](const Ints& i) { return f(Get(x, i)); });
  });
}

int64_t Rank(const Shape& shape) { return static_cast<int64_t>(shape.size()); }

std::vector<OpCase> Constants() {
  return {
      {"FullLike",
       [](Random& r) {
         const double v = static_cast<double>(r.Int(-3, 3)) / 4;
         return Elementwise(
             r.OfRank(1, 4), [=](const Tensor& x) { return x * FullLike(x, v); }, [=](double x) { return x * v; });
       }},
      {"ZerosAndOnesLike",
       [](Random& r) {
         return Elementwise(
             r.OfRank(1, 4), [](const Tensor& x) { return (x + OnesLike(x)) * x + ZerosLike(x); },
             [](double x) { return (x + 1) * x; });
       }},
      {"Full",
       [](Random& r) {
         return Elementwise(
             r.OfRank(1, 4), [](const Tensor& x) { return x - Full(x.graph(), x.shape(), 0.5); },
             [](double x) { return x - 0.5; });
       }},
      {"OneHotOfTwoValues",
       [](Random& r) {
         const Shape shape = r.OfRank(1, 3);
         const int64_t depth = r.Int(1, 4);
         return Drawn{{{shape, depth + 1}},  // an index may be out of range
                      [=](const Tensors& in) { return OneHot(in[0], depth, 3, -0.5); },
                      [=](const Arrays& in) {
                        return Make(With(in[0].shape, Rank(in[0].shape), depth), [&](const Ints& i) {
                          return Get(in[0], Without(i, Rank(i) - 1)) == i.back() ? 3 : -0.5;
                        });
                      }};
       }},
  };
}

std::vector<OpCase> Shapes() {
  auto same_numbers = [](const Shape& to) {
    return [=](const Array& x) {
      Shape shape = to;
      for (int64_t& d : shape) d = d == kBatch ? kRows : d;
      return Array{shape, x.values};
    };
  };
  return {
      {"Stack",
       [](Random& r) {
         const Shape shape = r.OfRank(1, 3);
         const int64_t axis = r.Int(shape[0] == kBatch ? 1 : 0, Rank(shape)), n = r.Int(1, 3);
         const int64_t spelled = r.Spelled(axis, Rank(shape) + 1);
         return Drawn{std::vector<Operand>(n, {shape}), [=](const Tensors& in) { return Stack(in, spelled); },
                      [=](const Arrays& in) {
                        return Make(With(in[0].shape, axis, n),
                                    [&](const Ints& i) { return Get(in[i[axis]], Without(i, axis)); });
                      }};
       }},
      {"Unstack",
       [](Random& r) {
         Shape shape = r.OfRank(1, 4);
         const int64_t axis = r.Axis(&shape), n = shape[axis], part = r.Int(0, n - 1);
         const int64_t spelled = r.Spelled(axis, Rank(shape));
         return Unary(
             shape, [=](const Tensor& x) { return Unstack(x, n, spelled)[part]; },
             [=](const Array& x) {
               return Make(Without(x.shape, axis), [&](const Ints& i) { return Get(x, With(i, axis, part)); });
             });
       }},
      {"SplitInEqualParts",
       [](Random& r) {
         Shape shape = r.OfRank(1, 4);
         const int64_t axis = r.Axis(&shape), n = r.Int(1, 3), size = r.Int(1, 2), part = r.Int(0, n - 1);
         const int64_t spelled = r.Spelled(axis, Rank(shape));
         shape[axis] = n * size;
         return Unary(
             shape, [=](const Tensor& x) { return Split(x, n, spelled)[part]; },
             [=](const Array& x) {
               return Make(Replaced(x.shape, axis, size),
                           [&](const Ints& i) { return Get(x, Replaced(i, axis, i[axis] + part * size)); });
             });
       }},
      {"SplitBySizes",
       [](Random& r) {
         Shape shape = r.OfRank(1, 4);
         const int64_t axis = r.Axis(&shape), part = r.Int(0, 2), spelled = r.Spelled(axis, Rank(shape));
         const Ints sizes = {r.Int(1, 3), r.Int(1, 3), r.Int(1, 3)};
         Ints given = sizes;
         if (r.Coin()) given[r.Int(0, 2)] = -1;
         shape[axis] = sizes[0] + sizes[1] + sizes[2];
         const int64_t begin = std::accumulate(sizes.begin(), sizes.begin() + part, int64_t{0});
         return Unary(
             shape, [=](const Tensor& x) { return Split(x, given, spelled)[part]; },
             [=](const Array& x) {
               return Make(Replaced(x.shape, axis, sizes[part]),
                           [&](const Ints& i) { return Get(x, Replaced(i, axis, i[axis] + begin)); });
             });
       }},
      {"ExpandDims",
       [=](Random& r) {
         const Shape shape = r.OfRank(1, 4);
         const int64_t axis = r.Int(shape[0] == kBatch ? 1 : 0, Rank(shape));
         const int64_t spelled = r.Spelled(axis, Rank(shape) + 1);
         return Unary(
             shape, [=](const Tensor& x) { return ExpandDims(x, spelled); }, same_numbers(With(shape, axis, 1)));
       }},
      {"Squeeze",
       [=](Random& r) {
         Shape shape = r.OfRank(1, 4);
         const int64_t axis = r.Axis(&shape), spelled = r.Spelled(axis, Rank(shape));
         shape[axis] = 1;
         if (r.Coin()) {
           return Unary(
               shape, [=](const Tensor& x) { return Squeeze(x, {spelled}); }, same_numbers(Without(shape, axis)));
         }
         Shape all = shape;
         std::erase(all, 1);
         return Unary(
             shape, [](const Tensor& x) { return Squeeze(x); }, same_numbers(all));
       }},
      {"ReshapeToTheRest",
       [=](Random& r) {
         const Shape sizes = {r.Int(1, 4), r.Int(1, 4), r.Int(1, 4)};
         Shape to = {sizes[2], sizes[0] * sizes[1]}, from = sizes;
         const int64_t open = r.Int(0, 1);
         Shape given = Replaced(to, open, -1);
         if (r.Coin()) {
           for (Shape* shape : {&to, &from, &given}) shape->insert(shape->begin(), kBatch);
         }
         return Unary(
             from, [=](const Tensor& x) { return Reshape(x, given); }, same_numbers(to));
       }},
      {"Repeat",
       [](Random& r) {
         Shape shape = r.OfRank(1, 4);
         const int64_t axis = r.Axis(&shape), n = r.Int(1, 3), spelled = r.Spelled(axis, Rank(shape));
         return Unary(
             shape, [=](const Tensor& x) { return Repeat(x, n, spelled); },
             [=](const Array& x) {
               return Make(Replaced(x.shape, axis, x.shape[axis] * n),
                           [&](const Ints& i) { return Get(x, Replaced(i, axis, i[axis] / n)); });
             });
       }},
      {"Select",
       [](Random& r) {
         // Every dimension may be 1 or missing in front in each of the three, but not in all.
         Shape shape = r.OfRank(2, 4);
         std::vector<Operand> operands;
         for (int64_t i = 0; i < 3; ++i) {
           Shape part = shape;
           for (size_t d = 0; d < part.size(); ++d) part[d] = i != 1 && r.Coin() ? 1 : part[d];
           if (i != 1 && part[0] == 1 && r.Coin()) part.erase(part.begin());
           operands.push_back({part, i == 0 ? 2 : 0});
         }
         return Drawn{operands, [](const Tensors& in) { return Select(NotEqual(in[0], 0), in[1], in[2]); },
                      [](const Arrays& in) {
                        return Make(in[1].shape, [&](const Ints& i) {
                          return GetBroadcast(in[0], i) != 0 ? GetBroadcast(in[1], i) : GetBroadcast(in[2], i);
                        });
                      }};
       }},
  };
}

double RootOfSquares(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return std::sqrt(sum);
}
double SumOfMagnitudes(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += std::abs(v);
  return sum;
}
double LargestMagnitude(const Numbers& x) {
  double largest = 0;
  for (double v : x) largest = std::max(largest, std::abs(v));
  return largest;
}
double LogOfSum(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += std::exp(v);
  return std::log(sum);
}

std::vector<OpCase> Numeric() {
  return {
      {"Round",
       [](Random& r) {
         return Elementwise(
             r.OfRank(1, 4), [](const Tensor& x) { return Round(x * 4.0) + x; },
             [](double x) { return std::nearbyint(4 * x) + x; });
       }},
      {"Ceil",
       [](Random& r) {
         return Elementwise(
             r.OfRank(1, 4), [](const Tensor& x) { return Ceil(x * 4.0) + x; },
             [](double x) { return std::ceil(4 * x) + x; });
       }},
      {"ClipByValue",
       [](Random& r) {
         const double low = static_cast<double>(r.Int(-8, 0)) / 5 - 0.01, high = low + 0.77;
         return Elementwise(
             r.OfRank(1, 4), [=](const Tensor& x) { return ClipByValue(x, low, high); },
             [=](double x) { return std::clamp(x, low, high); });
       }},
      {"ClipByNorm",
       [](Random& r) {
         const Shape shape = r.OfRank(1, 3);
         const Ints axes = r.Axes(shape);
         const double norm = static_cast<double>(r.Int(1, 12)) / 4;
         return Unary(
             shape, [=](const Tensor& x) { return ClipByNorm(x, norm, axes); },
             [=](const Array& x) {
               const Array norms = ReduceArray(x, axes, true, RootOfSquares);
               return Make(x.shape,
                           [&](const Ints& i) { return Get(x, i) * norm / std::max(norm, GetBroadcast(norms, i)); });
             });
       }},
      {"Norm",
       [](Random& r) {
         const Shape shape = r.OfRank(1, 3);
         const Ints axes = r.Axes(shape);
         const bool keep = r.Coin();
         const int64_t which = r.Int(0, 2);
         const double ord = which == 0 ? 1 : which == 1 ? 2 : std::numeric_limits<double>::infinity();
         return Unary(
             shape, [=](const Tensor& x) { return Norm(x, axes, ord, keep); },
             [=](const Array& x) {
               return ReduceArray(x, axes, keep,
                                  which == 0   ? SumOfMagnitudes
                                  : which == 1 ? RootOfSquares
                                               : LargestMagnitude);
             });
       }},
      {"LogSumExp",
       [](Random& r) {
         const Shape shape = r.OfRank(1, 3);
         const Ints axes = r.Axes(shape);
         const bool keep = r.Coin();
         return Unary(
             shape, [=](const Tensor& x) { return LogSumExp(x * 5.0, axes, keep); },
             [=](const Array& x) {
               Array scaled = x;
               for (double& v : scaled.values) v *= 5;
               return ReduceArray(scaled, axes, keep, LogOfSum);
             });
       }},
      {"LogSumExpOfAll",
       [](Random& r) {
         return Unary(
             r.OfRank(1, 3), [](const Tensor& x) { return LogSumExp(x); },
             [](const Array& x) {
               return Array{{}, {LogOfSum(x.values)}};
             });
       }},
  };
}

// The positions that sort `x`, the first of equal ones first.
std::vector<int64_t> Order(const Numbers& x, bool descending) {
  std::vector<int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return descending ? x[a] > x[b] : x[a] < x[b]; });
  return order;
}

// A case of lines along one axis; `f` gets the line and whether the coin fell so for each of two flags.
using LineOp = std::function<Tensor(const Tensor& x, int64_t axis, bool first, bool second, int64_t k)>;
using LineLoop = std::function<Numbers(const Numbers& x, bool first, bool second, int64_t k)>;
OpCase Lines(const std::string& name, LineOp op, LineLoop loop, int64_t end = 0) {
  return {name, [=](Random& r) {
            Shape shape = r.OfRank(1, 3);
            const int64_t axis = r.Axis(&shape);
            shape[axis] = r.Int(1, 9);
            const int64_t spelled = r.Spelled(axis, Rank(shape)), k = r.Int(1, shape[axis]);
            const bool first = r.Coin(), second = r.Coin();
            return Drawn{{{shape, end}},
                         [=](const Tensors& in) { return op(in[0], spelled, first, second, k); },
                         [=](const Arrays& in) {
                           return MapLines(in[0], axis, [&](const Numbers& x) { return loop(x, first, second, k); });
                         }};
          }};
}

// Running sums (products), as tf.cumsum has exclusive and reverse.
Numbers Running(Numbers x, bool exclusive, bool reverse, double identity,
                const std::function<double(double, double)>& f) {
  if (reverse) std::reverse(x.begin(), x.end());
  double sum = identity;
  for (double& v : x) {
    const double next = f(sum, v);
    v = exclusive ? sum : next;
    sum = next;
  }
  if (reverse) std::reverse(x.begin(), x.end());
  return x;
}

Numbers Taken(const Numbers& x, const std::vector<int64_t>& order, size_t k) {
  Numbers result;
  for (size_t i = 0; i < k; ++i) result.push_back(x[order[i]]);
  return result;
}

std::vector<OpCase> AlongAnAxis() {
  auto positions = [](const Numbers& x, bool descending, size_t k) {
    const std::vector<int64_t> order = Order(x, descending);
    return Numbers(order.begin(), order.begin() + static_cast<int64_t>(k));
  };
  return {
      Lines(
          "CumSum", [](const Tensor& x, int64_t axis, bool e, bool r, int64_t) { return CumSum(x, axis, e, r); },
          [](const Numbers& x, bool e, bool r, int64_t) { return Running(x, e, r, 0, std::plus<>()); }),
      Lines(
          "CumProd", [](const Tensor& x, int64_t axis, bool e, bool r, int64_t) { return CumProd(x, axis, e, r); },
          [](const Numbers& x, bool e, bool r, int64_t) { return Running(x, e, r, 1, std::multiplies<>()); }),
      Lines(
          "Sort", [](const Tensor& x, int64_t axis, bool down, bool, int64_t) { return Sort(x, axis, down); },
          [](const Numbers& x, bool down, bool, int64_t) { return Taken(x, Order(x, down), x.size()); }),
      Lines(
          "ArgSort", [](const Tensor& x, int64_t axis, bool down, bool, int64_t) { return ArgSort(x, axis, down); },
          [=](const Numbers& x, bool down, bool, int64_t) { return positions(x, down, x.size()); }),
      Lines(
          "TopKValues", [](const Tensor& x, int64_t axis, bool, bool, int64_t k) { return TopK(x, k, axis).values; },
          [](const Numbers& x, bool, bool, int64_t k) { return Taken(x, Order(x, true), k); }),
      Lines(
          "TopKIndices", [](const Tensor& x, int64_t axis, bool, bool, int64_t k) { return TopK(x, k, axis).indices; },
          [=](const Numbers& x, bool, bool, int64_t k) { return positions(x, true, k); }),
      // Integers, with many ties.
      Lines(
          "ArgSortOfIntegers",
          [](const Tensor& x, int64_t axis, bool down, bool, int64_t) { return ArgSort(x, axis, down); },
          [=](const Numbers& x, bool down, bool, int64_t) { return positions(x, down, x.size()); }, 3),
      Lines(
          "SortOfIntegers", [](const Tensor& x, int64_t axis, bool down, bool, int64_t) { return Sort(x, axis, down); },
          [](const Numbers& x, bool down, bool, int64_t) { return Taken(x, Order(x, down), x.size()); }, 4),
      Lines(
          "CumSumOfIntegers",
          [](const Tensor& x, int64_t axis, bool e, bool r, int64_t) { return CumSum(x, axis, e, r); },
          [](const Numbers& x, bool e, bool r, int64_t) { return Running(x, e, r, 0, std::plus<>()); }, 5),
      {"GatherRows",
       [](Random& r) {
         Shape params = r.OfRank(2, 4), indices = {params[0]};
         for (int64_t n = r.Int(0, 2); n > 0; --n) indices.push_back(r.Int(1, 3));
         const int64_t k = Rank(indices);
         return Drawn{{{params}, {indices, params[1]}},
                      [](const Tensors& in) { return GatherRows(in[0], in[1]); },
                      [=](const Arrays& in) {
                        Shape shape = in[1].shape;
                        shape.insert(shape.end(), in[0].shape.begin() + 2, in[0].shape.end());
                        return Make(shape, [&](const Ints& i) {
                          Ints at = {i[0], static_cast<int64_t>(Get(in[1], Ints(i.begin(), i.begin() + k)))};
                          at.insert(at.end(), i.begin() + k, i.end());
                          return Get(in[0], at);
                        });
                      }};
       }},
  };
}

// An equation of one or two operands: every letter is of the first, the second or both, and of the output or not.
Drawn DrawEinsum(Random& r) {
  std::string first, second, output;
  std::vector<int64_t> sizes(26, 1);
  for (char c : std::string("ijkl")) {
    const int64_t where = r.Int(0, 3);
    sizes[c - 'a'] = r.Int(1, 3);
    if (where == 0 || where >= 2) first += c;
    if (where >= 1) second += c;
    if (r.Int(0, 9) < 6) output += c;
  }
  const bool alone = r.Int(0, 7) == 0;
  if (alone) std::erase_if(output, [&](char c) { return first.find(c) == std::string::npos; });
  for (std::string* letters : {&first, &second, &output}) std::shuffle(letters->begin(), letters->end(), r.engine());
  const int64_t batched = r.Int(0, 3);  // none, the first, the second, both
  sizes['n' - 'a'] = kBatch;
  if (batched & 1) first = "n" + first;
  if (batched & 2) second = "n" + second;
  if ((alone ? batched & 1 : batched) && r.Int(0, 4) > 0) output = "n" + output;
  const std::string equation =
      alone ? absl::StrCat(first, "->", output) : absl::StrCat(first, ",", second, "->", output);
  auto shape_of = [&](const std::string& letters) {
    Shape shape;
    for (char c : letters) shape.push_back(sizes[c - 'a']);
    return shape;
  };
  std::vector<Operand> operands = {{shape_of(first)}};
  if (!alone) operands.push_back({shape_of(second)});
  sizes['n' - 'a'] = kRows;
  auto loops = [=](const Arrays& in) {
    const std::string all = "ijkln";
    Array result{{}, {}};
    for (char c : output) result.shape.push_back(sizes[c - 'a']);
    result.values.assign(NumElements(result.shape), 0);
    Shape space;
    for (char c : all) {
      const bool used = (first + (alone ? "" : second)).find(c) != std::string::npos;
      space.push_back(used ? sizes[c - 'a'] : 1);
    }
    Make(space, [&](const Ints& at) {
      auto index = [&](const std::string& letters) {
        Ints indices;
        for (char c : letters) indices.push_back(at[all.find(c)]);
        return indices;
      };
      const double other = alone ? 1 : Get(in[1], index(second));
      result.values[Offset(result.shape, index(output))] += Get(in[0], index(first)) * other;
      return 0;
    });
    return result;
  };
  return {operands, [=](const Tensors& in) { return Einsum(equation, in); }, loops, equation};
}

std::vector<OpCase> AllCases() {
  std::vector<OpCase> all = {{"Einsum", DrawEinsum, 80}};
  for (auto family : {Constants, Shapes, Numeric, AlongAnAxis}) {
    for (OpCase& c : family()) all.push_back(std::move(c));
  }
  return all;
}

// What the sum over a result of such a shape is weighted by, the same for all rows.
double Weight(int64_t i) { return std::cos(static_cast<float>(i + 1)); }

double Loss(const Array& y, bool batched) {
  const int64_t row = static_cast<int64_t>(y.values.size()) / (batched ? kRows : 1);
  double sum = 0;
  for (size_t i = 0; i < y.values.size(); ++i) sum += y.values[i] * Weight(static_cast<int64_t>(i) % row);
  return sum;
}

std::string NameOf(const char* kind, size_t draw, size_t operand) { return absl::StrCat(kind, draw, "_", operand); }

template <typename T>
HostTensor AsTensor(const Array& x) {
  return HostTensor::FromVector<T>(x.shape, std::vector<T>(x.values.begin(), x.values.end()));
}

bool IsBatched(const Shape& shape) { return !shape.empty() && shape[0] == kBatch; }

// All draws of one case, and what their operands hold.
struct Job {
  std::vector<Drawn> draws;
  std::vector<Arrays> operands;
};

Job DrawAll(const OpCase& c) {
  Job job;
  Random random(static_cast<uint32_t>(std::hash<std::string>()(c.name)));
  for (int i = 0; i < c.draws; ++i) {
    job.draws.push_back(c.draw(random));
    Arrays arrays;
    for (const Operand& operand : job.draws.back().operands) {
      Array x{operand.shape, {}};
      if (IsBatched(x.shape)) x.shape[0] = kRows;
      x.values = random.Distinct(NumElements(x.shape));
      for (double& v : x.values) v = operand.end > 0 ? static_cast<double>(random.Int(0, operand.end - 1)) : v;
      arrays.push_back(std::move(x));
    }
    job.operands.push_back(std::move(arrays));
  }
  return job;
}

void Build(GraphBuilder& g, const Job& job) {
  Tensor loss;
  Tensors differentiated;
  std::vector<std::string> names;
  for (size_t i = 0; i < job.draws.size(); ++i) {
    Tensors in;
    for (size_t j = 0; j < job.draws[i].operands.size(); ++j) {
      const Operand& operand = job.draws[i].operands[j];
      const std::string name = NameOf("x", i, j);
      if (operand.end > 0) {
        in.push_back(IsBatched(operand.shape) ? g.Input(name, DType::kInt32, operand.shape)
                                              : g.Constant(AsTensor<int32_t>(job.operands[i][j])));
        continue;
      }
      in.push_back(IsBatched(operand.shape) ? g.Input(name, DType::kFloat32, operand.shape)
                                            : g.Variable({.name = name, .shape = operand.shape}));
      differentiated.push_back(in.back());
      names.push_back(NameOf("g", i, j));
    }
    const Tensor y = job.draws[i].op(in);
    g.Output(NameOf("y", i, 0), y);
    if (y.dtype() != DType::kFloat32) continue;
    Shape shape = y.shape();
    if (IsBatched(shape)) shape.erase(shape.begin());
    const Array weights = Make(shape, [&](const Ints& index) { return Weight(Offset(shape, index)); });
    const Tensor part = ReduceSum(y * g.Constant(AsTensor<float>(weights)));
    loss = loss.ok() ? loss + part : part;
  }
  if (!loss.ok() || differentiated.empty()) return;
  const Tensors slopes = g.Gradients(loss, differentiated);
  for (size_t i = 0; i < slopes.size(); ++i) {
    if (slopes[i].ok()) g.Output(names[i], slopes[i]);
  }
}

void ExpectNear(const std::string& what, const HostTensor& got, const Array& want, double tolerance) {
  ASSERT_EQ(got.shape(), want.shape) << what;
  const HostTensor wide = ToFloat64(got);
  double largest = 1;
  for (double v : want.values) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < want.values.size(); ++i) {
    const double value = wide.data<double>()[i];
    if (!(std::abs(value - want.values[i]) <= tolerance * largest)) {
      ADD_FAILURE() << what << " " << ShapeString(want.shape) << "[" << i << "] is " << value << ", not "
                    << want.values[i];
      return;
    }
  }
}

// The derivative of the weighted sum by every element of an operand.
Array SlopeOf(const Drawn& drawn, Arrays operands, size_t operand, bool batched) {
  constexpr double kStep = 1e-5;
  Array slope = operands[operand];
  for (size_t e = 0; e < slope.values.size(); ++e) {
    double& x = operands[operand].values[e];
    const double at = x;
    x = at + kStep;
    const double above = Loss(drawn.loops(operands), batched);
    x = at - kStep;
    const double below = Loss(drawn.loops(operands), batched);
    x = at;
    slope.values[e] = (above - below) / (2 * kStep);
  }
  return slope;
}

class ComposedOps : public testing::TestWithParam<OpCase> {};

TEST_P(ComposedOps, ValuesAndSlopes) {
  const Job job = DrawAll(GetParam());
  for (const Ints& rows : {Ints{kRows}, Ints{3, 2}}) {
    SCOPED_TRACE(absl::StrCat(rows.size(), " devices"));
    const int devices = static_cast<int>(rows.size());
    const Options options =
        OnTestTarget({.devices = devices, .batch = devices == 1 ? 8 : 3, .rows = rows, .mode = "eval"});
    absl::StatusOr<Program> program = Prepare([&](GraphBuilder& g) { Build(g, job); }, options);
    ASSERT_TRUE(program.ok()) << program.status();
    TensorMap inputs;
    for (size_t i = 0; i < job.draws.size(); ++i) {
      for (size_t j = 0; j < job.operands[i].size(); ++j) {
        const Operand& operand = job.draws[i].operands[j];
        const Array& x = job.operands[i][j];
        if (IsBatched(operand.shape)) {
          inputs[NameOf("x", i, j)] = operand.end > 0 ? AsTensor<int32_t>(x) : AsTensor<float>(x);
        } else if (operand.end == 0 && program->Values().count(NameOf("x", i, j)) > 0) {
          ASSERT_TRUE(program->variables->Assign(NameOf("x", i, j), AsTensor<float>(x)).ok());
        }
      }
    }
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, inputs, options.rows, 0));
    ASSERT_TRUE(result.ok()) << result.status();
    std::map<std::string, HostTensor> outputs;
    for (size_t i = 0; i < result->outputs.size(); ++i) {
      outputs[program->executable->index().outputs[i].name] = result->outputs[i];
    }
    for (size_t i = 0; i < job.draws.size(); ++i) {
      const Drawn& drawn = job.draws[i];
      std::string what = absl::StrCat(GetParam().name, " ", i, " ", drawn.what);
      for (const Operand& operand : drawn.operands) absl::StrAppend(&what, " ", ShapeString(operand.shape));
      const HostTensor& y = outputs.at(NameOf("y", i, 0));
      ExpectNear(what, y, drawn.loops(job.operands[i]), y.dtype() == DType::kFloat32 ? 1e-5 : 0);
      if (y.dtype() != DType::kFloat32) continue;
      const bool batched = IsBatched(program->graph->Find(NameOf("y", i, 0)).shape());
      for (size_t j = 0; j < drawn.operands.size(); ++j) {
        if (drawn.operands[j].end > 0) continue;
        const Array want = SlopeOf(drawn, job.operands[i], j, batched);
        const auto got = outputs.find(NameOf("g", i, j));
        if (got == outputs.end()) {
          EXPECT_EQ(LargestMagnitude(want.values), 0) << what << ", operand " << j << " has no slope";
        } else {
          ExpectNear(absl::StrCat(what, ", slope by operand ", j), got->second, want, 1e-4);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ComposedOps, testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem::compiled
