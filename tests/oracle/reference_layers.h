// The layers' formulas written once more, from Keras' and TensorFlow's documentation and the papers, element by element
// over the rows of the whole global batch. Nothing of Tandem's graph, gradients, compiler or interpreter is used.
#ifndef TANDEM_TESTS_ORACLE_REFERENCE_LAYERS_H_
#define TANDEM_TESTS_ORACLE_REFERENCE_LAYERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "tests/oracle/tape.h"

namespace tandem::ref {

// A row-major tensor on the tape. Of batched ones dimension 0 is the number of rows of the global batch.
struct Array {
  Shape shape;
  std::vector<Real> values;

  int64_t rows() const { return shape[0]; }
  int64_t last() const { return shape.back(); }
};

// The same without a tape.
struct Numbers {
  Shape shape;
  std::vector<double> values;
};
using NumbersMap = std::map<std::string, Numbers>;

// One forward pass over the global batch: what a model's formula reads, and the variables that it assigns.
class Forward {
 public:
  // `rows_per_replica` says which rows (consecutive, in order) each replica has; some may have none. `uniforms` holds
  // the random numbers of the step by the name of their op.
  Forward(const NumbersMap& variables, const NumbersMap& inputs, const std::vector<int64_t>& rows_per_replica,
          const NumbersMap& uniforms);

  const Array& Variable(const std::string& name) const { return variables_.at(name); }
  const Array& Input(const std::string& name) const { return inputs_.at(name); }
  // As integers: class numbers, indices, masks.
  std::vector<int64_t> Integers(const std::string& name) const;
  const Numbers& Uniform(const std::string& op) const { return uniforms_.at(op); }
  const std::vector<int64_t>& rows_per_replica() const { return rows_per_replica_; }
  int64_t rows() const;

  void Assign(const std::string& name, Numbers value) { assigned_[name] = std::move(value); }
  const NumbersMap& assigned() const { return assigned_; }
  const std::map<std::string, Array>& variables() const { return variables_; }

 private:
  std::map<std::string, Array> variables_, inputs_;
  std::vector<int64_t> rows_per_replica_;
  const NumbersMap& uniforms_;
  NumbersMap assigned_;
};

Array Map(const Array& x, const std::function<Real(Real)>& f);
// Elementwise of equal shapes.
Array Map(const Array& x, const Array& y, const std::function<Real(Real, Real)>& f);
Array Reshaped(const Array& x, Shape shape);

// Elementwise.
Real Relu(Real x);
Real LeakyRelu(Real x, double alpha);
Real Relu6(Real x);
Real Elu(Real x);
Real Softplus(Real x);
Real Sigmoid(Real x);
Real Swish(Real x);
Real Gelu(Real x);
Real Selu(Real x);
Real Softsign(Real x);
Real Mish(Real x);
Real HardSigmoid(Real x);

// Over the last axis.
Array Softmax(const Array& x);
Array LogSoftmax(const Array& x);

struct Window {
  int64_t height = 1, width = 1;
  int64_t stride_y = 1, stride_x = 1;
  bool same = false;
};

Array Flatten(const Array& x);
Array Dense(const Forward& f, const Array& x, const std::string& name, bool bias = true);
// HWIO kernel; the window's size is the kernel's.
Array Conv2D(const Forward& f, const Array& x, const std::string& name, Window window = {}, bool bias = true);
// Of [b, steps, channels], with a kernel [steps, in, out].
Array Conv1D(const Forward& f, const Array& x, const std::string& name, int64_t stride = 1, bool same = false,
             bool bias = true);
// Kernel "/depthwise_kernel", [height, width, channels, multiplier].
Array DepthwiseConv2D(const Forward& f, const Array& x, const std::string& name, Window window = {}, bool bias = true);
// A depthwise convolution, then one by "/pointwise_kernel".
Array SeparableConv2D(const Forward& f, const Array& x, const std::string& name, Window window = {}, bool bias = true);
Array MaxPool(const Array& x, const Window& window);
// Counts only what lies inside the image.
Array AveragePool(const Array& x, const Window& window);
// Every row and every column so often.
Array UpSampled(const Array& x, int64_t rows, int64_t columns);
// Of the uniform numbers those from `rate` on keep their element.
Array Dropout(const Forward& f, const Array& x, const std::string& uniform_op, double rate);

// Mean and biased variance over all axes but the last, of rows [begin, end).
struct Moments {
  Array mean, variance;  // [channels]
};
Moments MomentsOf(const Array& x, int64_t begin, int64_t end);

struct BatchNormOptions {
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true, training = true, sync = false;
};
// Each replica's rows by that replica's statistics; with `sync` all by those of all rows. Moving averages are the mean
// of those of the replicas that have rows, each updated from its own statistics.
Array BatchNorm(Forward& f, const Array& x, const std::string& name, const BatchNormOptions& options);
Array LayerNorm(const Forward& f, const Array& x, const std::string& name, double epsilon, bool center = true,
                bool scale = true);
Array Embedding(const Forward& f, const std::string& indices, Shape row_shape, const std::string& name);

struct AttentionOptions {
  bool bias = true, causal = false;
  std::string mask;  // input: [b, s] or [b, s, s]
  double dropout = 0;
  std::string uniform_op;
};
// Heads and sizes are those of the kernels.
Array Attention(const Forward& f, const Array& x, const std::string& name, const AttentionOptions& options);

}  // namespace tandem::ref

#endif  // TANDEM_TESTS_ORACLE_REFERENCE_LAYERS_H_
