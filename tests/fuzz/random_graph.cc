#include "tests/fuzz/random_graph.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem::fuzz {
namespace {

constexpr int64_t kMaxElements = 300;  // of one row

class RandomGraph {
 public:
  RandomGraph(uint32_t seed, GraphBuilder& g, bool noisy) : random_(seed), signs_(seed), g_(g), noisy_(noisy) {}

  std::map<std::string, Shape> Build() {
    AddInput("x0");
    if (Chance(0.4)) AddInput("x1");
    inputs_ = static_cast<int>(values_.size());
    const int variables = Int(1, 3);
    for (int i = 0; i < variables; ++i) AddVariable();
    const int ops = Int(5, 40);
    for (int i = 0; i < ops; ++i) Keep(Op());
    Finish();
    return input_shapes_;
  }

 private:
  int Int(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool Chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  double Real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  void AddInput(const std::string& name) {
    static const Shape kShapes[] = {{kBatch}, {kBatch, 1}, {kBatch, 5}, {kBatch, 3, 4}, {kBatch, 6, 6, 2}, {kBatch, 8}};
    const Shape& shape = kShapes[Int(0, 5)];
    input_shapes_[name] = shape;
    Keep(g_.Input(name, DType::kFloat32, shape));
  }

  // Broadcasts to some value there is.
  void AddVariable() {
    Shape shape = Batched().shape();
    shape.erase(shape.begin());
    while (!shape.empty() && Chance(0.3)) shape.erase(shape.begin());
    for (int64_t& size : shape) size = Chance(0.15) ? 1 : size;
    Tensor w = NewVariable(shape);
    variables_.push_back(w);
  }

  Tensor NewVariable(const Shape& shape) {
    return g_.Variable(
        {.name = absl::StrCat("w", count_++), .shape = shape, .initializer = {Initializer::Kind::kUniform, -0.8, 0.8}});
  }

  // Squashes what has grown.
  void Keep(const Tensor& x) { values_.push_back(Noisy(Chance(0.3) ? Tanh(x) : x)); }

  // As far off as float32 might be: another relative error in every element.
  Tensor Noisy(const Tensor& x) {
    if (!noisy_) return x;
    const Shape shape = x.shape();
    HostTensor row(DType::kFloat32, {shape.begin() + 1, shape.end()});
    for (int64_t i = 0; i < row.num_elements(); ++i) row.data<float>()[i] = signs_() % 2 ? 0x1p-23f : -0x1p-23f;
    Shape noise(x.rank(), 1);
    noise[0] = kBatch;
    input_shapes_["noise"] = {kBatch};
    return x * (Reshape(g_.Input("noise", DType::kFloat32, {kBatch}), noise) * g_.Constant(row) + 1.0);
  }

  Tensor Batched() { return Chance(0.6) ? values_.back() : values_[Int(0, static_cast<int>(values_.size()) - 1)]; }

  static int64_t RowElements(const Shape& shape) { return NumElements({shape.data() + 1, shape.size() - 1}); }

  // Something that `x` can be combined with element by element.
  Tensor Partner(const Tensor& x) {
    for (int i = 0; i < 6; ++i) {
      if (Chance(0.5)) {
        int v = Int(0, static_cast<int>(variables_.size()) - 1);
        if (!BroadcastsTo(variables_[v].shape(), x.shape())) continue;
        return variables_[v];
      }
      Tensor y = Batched();
      if (y.shape() == x.shape()) return y;
    }
    Shape shape = x.shape();
    for (size_t d = 1; d < shape.size(); ++d) shape[d] = Chance(0.2) ? 1 : shape[d];
    if (Chance(0.3) && x.rank() > 1) return ReduceMean(x, {-1}, true);
    HostTensor row(DType::kFloat32, {shape.begin() + 1, shape.end()});
    for (int64_t i = 0; i < row.num_elements(); ++i) row.data<float>()[i] = static_cast<float>(Real(-1, 1));
    return g_.Constant(row);
  }

  static bool BroadcastsTo(const Shape& from, const Shape& to) {
    if (from.size() >= to.size()) return false;  // without the batch
    for (size_t i = 0; i < from.size(); ++i) {
      int64_t size = from[from.size() - 1 - i];
      if (size != 1 && size != to[to.size() - 1 - i]) return false;
    }
    return true;
  }

  Tensor Unary(const Tensor& x) {
    switch (Int(0, 11)) {
      case 0:
        return Neg(x);
      case 1:
        return Abs(x);
      case 2:
        return Exp(Minimum(x, 1.0));
      case 3:
        return Log(Abs(x) + 0.5);
      case 4:
        return Sqrt(Square(x) + 0.3);
      case 5:
        return Rsqrt(Square(x) + 0.5);
      case 6:
        return Square(Tanh(x));
      case 7:
        return Sigmoid(x);
      case 8:
        return Relu(x);
      case 9:
        return Pow(Abs(x) + 0.5, Real(0.5, 1.5));
      case 10:
        return StopGradient(x) * 0.5;
      default:
        return Minimum(Maximum(x, -1.5), 1.5);
    }
  }

  Tensor Binary(const Tensor& x) {
    Tensor y = Partner(x);
    switch (Int(0, 6)) {
      case 0:
        return x + y;
      case 1:
        return y - x;
      case 2:
        return Tanh(x) * y;
      case 3:
        return x / (Square(y) + 1.0);
      case 4:
        return Maximum(x, y);
      case 5:
        return Minimum(x, y * 0.7);
      default:
        return Select(Greater(x, y), x * 0.5, Tanh(y));
    }
  }

  int InnerAxis(const Tensor& x) { return Int(1, x.rank() - 1); }

  Tensor Reduction(const Tensor& x) {
    if (x.rank() < 2) return Unary(x);
    std::vector<int64_t> axes = {InnerAxis(x)};
    bool keep = Chance(0.4);
    switch (Int(0, 5)) {
      case 0:
        return ReduceSum(x, axes, keep) * 0.3;
      case 1:
        return ReduceMax(x, axes, keep);
      case 2:
        return ReduceMin(x, axes, keep);
      case 3:
        return Softmax(x);
      case 4:
        return LogSoftmax(x) * 0.3;
      default:
        return ReduceMean(x, axes, keep);
    }
  }

  // A reduction over the batch that goes back into every row.
  Tensor OverBatch(const Tensor& x) {
    switch (Int(0, 3)) {
      case 0:
        return x - ReduceMean(x, {0});
      case 1:
        return x / (ReduceMax(Abs(x)) + 0.5);
      case 2:
        return x + ReduceSum(Tanh(x), {0}, true) * 0.02;
      default: {
        if (x.rank() < 2) return x - ReduceMean(x);
        Moments m = BatchMoments(x, "global");
        return (x - m.mean) * Rsqrt(m.variance + 0.1);
      }
    }
  }

  Tensor Shaped(const Tensor& x) {
    const Shape shape = x.shape();
    const int64_t row = RowElements(shape);
    switch (Int(0, 6)) {
      case 0:
        return Reshape(x, {kBatch, row});
      case 1: {
        for (int64_t f : {2, 3, 5}) {
          if (row % f == 0 && Chance(0.6)) return Reshape(x, {kBatch, f, row / f});
        }
        return Reshape(x, {kBatch, row, 1});
      }
      case 2: {
        if (x.rank() < 3) return x * 0.9;
        std::vector<int64_t> permutation(x.rank());
        for (int i = 0; i < x.rank(); ++i) permutation[i] = i;
        std::shuffle(permutation.begin() + 1, permutation.end(), random_);
        return Transpose(x, permutation);
      }
      case 3: {
        if (x.rank() < 2 || row * 2 > kMaxElements) return Neg(x);
        int axis = InnerAxis(x);
        return Concat({x, Unary(x)}, axis);
      }
      case 4: {
        if (x.rank() < 2) return Abs(x);
        int axis = InnerAxis(x);
        std::vector<int64_t> begin(x.rank(), 0), size(shape);
        begin[axis] = Int(0, static_cast<int>(shape[axis]) - 1);
        size[axis] = Int(1, static_cast<int>(shape[axis] - begin[axis]));
        return Slice(x, begin, size);
      }
      case 5: {
        if (x.rank() < 2) return Sigmoid(x);
        std::vector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
        int axis = InnerAxis(x);
        low[axis] = Int(0, 1);
        high[axis] = Int(0, 2);
        return row * 4 > kMaxElements ? x * 1.1 : Pad(x, low, high, 0.25);
      }
      default: {
        if (x.rank() < 2 || row > 60) return Square(Tanh(x));
        return MatMul(Reshape(x, {kBatch, row}), Weight({row, Int(1, 9)}));
      }
    }
  }

  Tensor Weight(const Shape& shape) {
    Tensor w = NewVariable(shape);
    return w * 0.5;
  }

  Tensor Window(const Tensor& x) {
    if (x.rank() != 4 || x.shape()[1] < 3 || x.shape()[2] < 3) return Binary(x);
    WindowOptions options{.strides = {Int(1, 2), Int(1, 2)}, .padding = Chance(0.5) ? Padding::kSame : Padding::kValid};
    switch (Int(0, 3)) {
      case 0:
        return MaxPool(x, {Int(1, 3), Int(1, 3)}, options);
      case 1:
        return AvgPool(x, {Int(1, 3), Int(1, 3)}, options);
      case 2:
        return DepthwiseConv2DOp(x, Weight({Int(1, 3), Int(1, 3), x.shape()[3], Int(1, 2)}), options);
      default:
        return Conv2DOp(x, Weight({Int(1, 3), Int(1, 3), x.shape()[3], Int(1, 4)}), options);
    }
  }

  Tensor Op() {
    Tensor x = Batched();
    int kind = Int(0, 19);
    if (kind < 6) return Binary(x);
    if (kind < 10) return Unary(x);
    if (kind < 13) return Shaped(x);
    if (kind < 16) return Reduction(x);
    if (kind < 19) return Window(x);
    return OverBatch(x);
  }

  void Finish() {
    Tensor last = values_.back();
    // Every variable and input takes part, at least in a penalty.
    Tensor loss = ReduceMean(Square(Tanh(last * 0.5) - 0.3));
    for (const Tensor& w : variables_) loss = loss + ReduceMean(Square(w)) * 0.1;
    for (int i = 0; i < inputs_; ++i) loss = loss + ReduceMean(values_[i]) * 0.1;
    if (values_.size() > 4 && Chance(0.5)) loss = loss + ReduceSum(Tanh(values_[values_.size() / 2])) * 0.003;
    g_.Output("loss", loss);
    for (int i = 0, n = Int(0, 3); i < n; ++i) g_.Output(absl::StrCat("value_", i), Batched());
    if (Chance(0.3) && values_[0].rank() > 1) g_.Output("argmax", ArgMax(values_[0], -1));
    optimizers::SGD({.learning_rate = 0.2}).Minimize(loss);
  }

  std::mt19937 random_, signs_;
  GraphBuilder& g_;
  const bool noisy_;
  std::map<std::string, Shape> input_shapes_;
  std::vector<Tensor> values_;     // batched
  std::vector<Tensor> variables_;  // broadcast to values
  int inputs_ = 0;                 // the first values
  int count_ = 0;
};

}  // namespace

std::map<std::string, Shape> BuildRandomGraph(uint32_t seed, GraphBuilder& g) {
  return RandomGraph(seed, g, /*noisy=*/false).Build();
}

std::map<std::string, Shape> BuildNoisyGraph(uint32_t seed, GraphBuilder& g) {
  return RandomGraph(seed, g, /*noisy=*/true).Build();
}

}  // namespace tandem::fuzz
