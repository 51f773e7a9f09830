// The ops of a graph as functions. Shapes broadcast as in NumPy; the batch axis is always dimension 0.
// Every function takes the user's location as a defaulted last argument. On a bad input the result is poisoned and
// the error is kept in GraphBuilder::status().
#ifndef TANDEM_GRAPH_OPS_H_
#define TANDEM_GRAPH_OPS_H_

#include <string>
#include <vector>

#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/padding.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {

#define TD_LOC SourceLocation loc = SourceLocation::Current()

// Elementwise, one operand: floating-point tensors of any shape, Neg, Abs and Square also integers. Slopes where two
// branches meet are TensorFlow's: Relu and Abs have 0 at 0.
Tensor Neg(const Tensor& x, TD_LOC);
Tensor Abs(const Tensor& x, TD_LOC);
Tensor Exp(const Tensor& x, TD_LOC);
Tensor Log(const Tensor& x, TD_LOC);
Tensor Sqrt(const Tensor& x, TD_LOC);
Tensor Rsqrt(const Tensor& x, TD_LOC);
Tensor Square(const Tensor& x, TD_LOC);
Tensor Tanh(const Tensor& x, TD_LOC);
Tensor Sin(const Tensor& x, TD_LOC);  // x is in radians
Tensor Cos(const Tensor& x, TD_LOC);
Tensor Sigmoid(const Tensor& x, TD_LOC);
Tensor Relu(const Tensor& x, TD_LOC);
Tensor Erf(const Tensor& x, TD_LOC);
// x times the normal distribution function of x; GeluTanh approximates it with tanh, with an error of up to 0.0005.
Tensor Gelu(const Tensor& x, TD_LOC);
Tensor GeluTanh(const Tensor& x, TD_LOC);
// -1, 0 or 1; NaN stays NaN. Its gradient is zero.
Tensor Sign(const Tensor& x, TD_LOC);
// The largest whole number that is not above x. Its gradient is zero.
Tensor Floor(const Tensor& x, TD_LOC);
// The negation of a bool tensor.
Tensor Not(const Tensor& x, TD_LOC);
// True where x is neither infinite nor NaN.
Tensor IsFinite(const Tensor& x, TD_LOC);
// The same numbers in another type. To an integer it rounds toward zero; to a bool it is x != 0. A number that the type
// cannot hold becomes an unspecified one.
Tensor Cast(const Tensor& x, DType dtype, TD_LOC);
// Returns x, but passes no gradient on.
Tensor StopGradient(const Tensor& x, TD_LOC);

// Elementwise, two operands (broadcast to each other; dtypes must be equal).
Tensor Add(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Sub(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Mul(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Div(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Maximum(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Minimum(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Pow(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Equal(const Tensor& x, const Tensor& y, TD_LOC);
Tensor NotEqual(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Less(const Tensor& x, const Tensor& y, TD_LOC);
Tensor LessEqual(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Greater(const Tensor& x, const Tensor& y, TD_LOC);
Tensor GreaterEqual(const Tensor& x, const Tensor& y, TD_LOC);
Tensor And(const Tensor& x, const Tensor& y, TD_LOC);
Tensor Or(const Tensor& x, const Tensor& y, TD_LOC);
// x where the condition holds, y elsewhere; all three broadcast to one shape, as in numpy.where. Elements that are not
// selected do not affect the value or the gradient, not even NaN.
Tensor Select(const Tensor& condition, const Tensor& x, const Tensor& y, TD_LOC);

// The second (or first) operand is a number, which is converted to the tensor's dtype.
Tensor Add(const Tensor& x, double y, TD_LOC);
Tensor Sub(const Tensor& x, double y, TD_LOC);
Tensor Mul(const Tensor& x, double y, TD_LOC);
Tensor Div(const Tensor& x, double y, TD_LOC);
Tensor Pow(const Tensor& x, double y, TD_LOC);
Tensor Maximum(const Tensor& x, double y, TD_LOC);
Tensor Minimum(const Tensor& x, double y, TD_LOC);
Tensor Equal(const Tensor& x, double y, TD_LOC);
Tensor NotEqual(const Tensor& x, double y, TD_LOC);
Tensor Less(const Tensor& x, double y, TD_LOC);
Tensor LessEqual(const Tensor& x, double y, TD_LOC);
Tensor Greater(const Tensor& x, double y, TD_LOC);
Tensor GreaterEqual(const Tensor& x, double y, TD_LOC);
Tensor Sub(double x, const Tensor& y, TD_LOC);
Tensor Div(double x, const Tensor& y, TD_LOC);
Tensor Pow(double x, const Tensor& y, TD_LOC);

// The functions above as operators; the location is that of the first tensor.
inline Tensor operator+(TensorArg x, TensorArg y) { return Add(x.tensor, y.tensor, x.loc); }
inline Tensor operator-(TensorArg x, TensorArg y) { return Sub(x.tensor, y.tensor, x.loc); }
inline Tensor operator*(TensorArg x, TensorArg y) { return Mul(x.tensor, y.tensor, x.loc); }
inline Tensor operator/(TensorArg x, TensorArg y) { return Div(x.tensor, y.tensor, x.loc); }
inline Tensor operator-(TensorArg x) { return Neg(x.tensor, x.loc); }
inline Tensor operator+(TensorArg x, double y) { return Add(x.tensor, y, x.loc); }
inline Tensor operator-(TensorArg x, double y) { return Sub(x.tensor, y, x.loc); }
inline Tensor operator*(TensorArg x, double y) { return Mul(x.tensor, y, x.loc); }
inline Tensor operator/(TensorArg x, double y) { return Div(x.tensor, y, x.loc); }
inline Tensor operator*(double x, TensorArg y) { return Mul(y.tensor, x, y.loc); }
inline Tensor operator+(double x, TensorArg y) { return Add(y.tensor, x, y.loc); }
inline Tensor operator-(double x, TensorArg y) { return Sub(x, y.tensor, y.loc); }
inline Tensor operator/(double x, TensorArg y) { return Div(x, y.tensor, y.loc); }

// Shapes. In every shape kBatch stands for the batch.

// x repeated to this shape. Broadcast aligns shapes at the last dimension, as NumPy does.
Tensor Broadcast(const Tensor& x, const Shape& shape, TD_LOC);
// A batched tensor keeps dimension 0, which is kBatch in `shape`. One size may be -1: computed from the number of
// elements.
Tensor Reshape(const Tensor& x, const Shape& shape, TD_LOC);
// Permutes dimensions: dimension i of the result is dimension permutation[i] of x. The batch stays dimension 0.
Tensor Transpose(const Tensor& x, const std::vector<int64_t>& permutation, TD_LOC);
// The box of x that begins at `begin` and has the sizes `size`, one number for each dimension; a size of -1 takes all
// from `begin` on. The batch has begin 0 and size -1.
Tensor Slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size, TD_LOC);
// Adds `low` elements before and `high` behind, for each dimension, with this value; none along the batch.
Tensor Pad(const Tensor& x, const std::vector<int64_t>& low, const std::vector<int64_t>& high, double value = 0,
           TD_LOC);
// Joins tensors along `axis`, not the batch; all other sizes are equal.
Tensor Concat(const std::vector<Tensor>& xs, int64_t axis, TD_LOC);
// Rows of `params` ([n, ...]) by integer `indices`; the shape is indices.shape + params.shape[1:]. A computed index
// outside [0, n) gives NaN, or the nearest row if `params` are integers. For batched params: GatherRows.
Tensor Gather(const Tensor& params, const Tensor& indices, TD_LOC);
// 1 at the position given by the integer index along a new last dimension of size `depth`, 0 elsewhere; zeros for an
// index outside [0, depth).
Tensor OneHot(const Tensor& indices, int64_t depth, DType dtype = DType::kFloat32, TD_LOC);
// A tensor of this shape whose elements are their index along `axis`; along the batch, the row in the global batch.
Tensor Iota(GraphBuilder* graph, const Shape& shape, int64_t axis, DType dtype, TD_LOC);

// Reductions over `axes` (negative ones count from the end; empty: all). A mean over the batch divides by the number of
// examples in the whole global batch ("example_count").
Tensor ReduceSum(const Tensor& x, std::vector<int64_t> axes = {}, bool keep_dims = false, TD_LOC);
Tensor ReduceMean(const Tensor& x, std::vector<int64_t> axes = {}, bool keep_dims = false, TD_LOC);
Tensor ReduceMax(const Tensor& x, std::vector<int64_t> axes = {}, bool keep_dims = false, TD_LOC);
Tensor ReduceMin(const Tensor& x, std::vector<int64_t> axes = {}, bool keep_dims = false, TD_LOC);
// The index along `axis` of the largest element, as int64; the first one if several are equal.
Tensor ArgMax(const Tensor& x, int64_t axis, TD_LOC);

// Contractions and windows. Images are NHWC, kernels HWIO.

// MatMul: [b, k] x [k, n], or over the last dimension of a tensor with more: [b, s, k] x [k, n] is [b, s, n].
// With transpose_a it sums over all dimensions but the last: [b, s, m] x [b, s, n] is [m, n].
Tensor MatMul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false, TD_LOC);
struct BatchMatMulOptions {
  bool transpose_a = false, transpose_b = false;  // operand a is stored as [..., k, m], operand b as [..., n, k]
  // The tensor is stored as [..., rows, h, columns] instead of [..., h, rows, columns], the layout of attention heads
  // in the result of a dense layer.
  bool swap_a = false, swap_b = false, swap_output = false;
};
// [..., m, k] x [..., k, n] is [..., m, n] for every index of the leading dimensions; there must be at least one, and
// they must be equal.
Tensor BatchMatMul(const Tensor& a, const Tensor& b, const BatchMatMulOptions& options = {}, TD_LOC);
// Steps from window to window, {height, width}, and what is beyond the border.
struct WindowOptions {
  std::vector<int64_t> strides = {1, 1};
  Padding padding = Padding::kValid;
};
// A convolution of x [b, h, w, in] with a kernel [kh, kw, in, out]: [b, h', w', out].
Tensor Conv2DOp(const Tensor& x, const Tensor& kernel, const WindowOptions& options, TD_LOC);
// Convolves each channel separately: a kernel [height, width, channels, multiplier] gives channels x multiplier
// channels, first those of the first input channel.
Tensor DepthwiseConv2DOp(const Tensor& x, const Tensor& kernel, const WindowOptions& options, TD_LOC);
// The largest element of each window, {height, width}, of each channel: [b, h, w, c] -> [b, h', w', c]. A NaN in a
// window is the result.
Tensor MaxPool(const Tensor& x, const std::vector<int64_t>& window, const WindowOptions& options, TD_LOC);
// The mean of each window; the divisor is the number of its elements inside the image.
Tensor AvgPool(const Tensor& x, const std::vector<int64_t>& window, const WindowOptions& options, TD_LOC);

// Normalisation and losses.

// (x - mean) / sqrt(variance + epsilon) over the last axis, with the biased variance.
Tensor LayerNorm(const Tensor& x, double epsilon, TD_LOC);
// exp(x) / sum(exp(x)) over the last axis, without overflow, and its logarithm.
Tensor Softmax(const Tensor& logits, TD_LOC);
Tensor LogSoftmax(const Tensor& logits, TD_LOC);
// Cross-entropy of each example or position, [b, ...]: dense labels [b, ..., classes] (float) or sparse labels [b, ...]
// (integer); logits [b, ..., classes]. Dense labels get a gradient too; apply StopGradient to them to prevent that.
Tensor SoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, TD_LOC);
Tensor SparseSoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, TD_LOC);
// Mean and biased variance over all axes but the last, over the rows of one replica ("replica") or of all ("global").
struct Moments {
  Tensor mean, variance;
};
Moments BatchMoments(const Tensor& x, const std::string& scope = "replica", TD_LOC);
// Combine values that each replica computes from its own rows (such as statistics of scope "replica") into one value
// for all: the sum, or the mean over the replicas that have rows. x is floating-point, without the batch; with one
// replica the result is x itself. x must differ between replicas: common values need no combining, and their sum would
// depend on the number of replicas.
Tensor CrossReplicaSum(const Tensor& x, TD_LOC);
Tensor CrossReplicaMean(const Tensor& x, TD_LOC);
// Uniform in [0, 1), of shape `shape`. The numbers depend on the step scalars "seed" and "global_step", the op's name
// and the row in the global batch.
Tensor RandomUniform(GraphBuilder* graph, const Shape& shape, TD_LOC);

// Ops made of the ops above. Negative `axis` and `axes` count from the end; empty axes mean all axes. Where `axis` must
// not be the batch, the batch remains dimension 0.

// Constants. For a bool tensor `value` is 0 or 1.
Tensor Full(GraphBuilder* graph, const Shape& shape, double value, DType dtype = DType::kFloat32, TD_LOC);
Tensor FullLike(const Tensor& x, double value, TD_LOC);  // x's shape and dtype
Tensor ZerosLike(const Tensor& x, TD_LOC);
Tensor OnesLike(const Tensor& x, TD_LOC);
// `on_value` at the position given by the index along a new last dimension, `off_value` elsewhere.
Tensor OneHot(const Tensor& indices, int64_t depth, double on_value, double off_value, DType dtype = DType::kFloat32,
              TD_LOC);

// Joins tensors of one shape along a new dimension `axis` of the result, not the batch.
Tensor Stack(const std::vector<Tensor>& xs, int64_t axis, TD_LOC);
// The `count` slices of x along `axis`, without that dimension, whose size must be `count`. Unstack and Split return
// the same number of tensors after an error, poisoned.
std::vector<Tensor> Unstack(const Tensor& x, int64_t count, int64_t axis, TD_LOC);
// Equal parts of x along `axis`, not the batch; or parts of given sizes, one of which may be -1: the remaining size.
std::vector<Tensor> Split(const Tensor& x, int64_t count, int64_t axis, TD_LOC);
std::vector<Tensor> Split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis, TD_LOC);
// Adds a dimension of size 1 at `axis` of the result; the axis must not be 0 if x is batched.
Tensor ExpandDims(const Tensor& x, int64_t axis, TD_LOC);
// Removes the dimensions `axes`, which must have size 1; empty: all dimensions of size 1.
Tensor Squeeze(const Tensor& x, std::vector<int64_t> axes = {}, TD_LOC);
// Repeats every slice `count` times in a row, as numpy.repeat; not along the batch. Repeat(Repeat(x, 2, 1), 2, 2)
// doubles height and width of images [b, h, w, c].
Tensor Repeat(const Tensor& x, int64_t count, int64_t axis, TD_LOC);

// The nearest whole number; if two are equally near, the even one, as in NumPy and TensorFlow. Its gradient is zero,
// like Floor's.
Tensor Round(const Tensor& x, TD_LOC);
Tensor Ceil(const Tensor& x, TD_LOC);  // the smallest whole number that is not below x
// Clips to [`low`, `high`]; one of them may be infinite. Clipped elements get no gradient; elements at the bounds do.
Tensor ClipByValue(const Tensor& x, double low, double high, TD_LOC);
// tf.clip_by_norm: x, scaled down so that its 2-norm over `axes` is at most `norm`; the slope at a zero vector is 1.
Tensor ClipByNorm(const Tensor& x, double norm, const std::vector<int64_t>& axes = {}, TD_LOC);
// Over `axes`: the sum of magnitudes (ord 1), the root of the sum of squares (2), or the largest magnitude (infinity;
// equal magnitudes share the gradient). At a zero vector the slope is 0, as in PyTorch.
Tensor Norm(const Tensor& x, const std::vector<int64_t>& axes = {}, double ord = 2, bool keep_dims = false, TD_LOC);
// log(sum(exp(x))) without overflow. As in scipy.special.logsumexp, the result for elements that are all -inf is -inf
// (with slope 0), and +inf if one is +inf.
Tensor LogSumExp(const Tensor& x, const std::vector<int64_t>& axes = {}, bool keep_dims = false, TD_LOC);

// Normally distributed float32 numbers, made from RandomUniform with the same dependencies. RandomNormal uses the
// method of Box and Muller; TruncatedNormal the inverse of the distribution function, cut at two standard deviations as
// tf.random.truncated_normal.
Tensor RandomNormal(GraphBuilder* graph, const Shape& shape, double mean = 0, double stddev = 1, TD_LOC);
Tensor TruncatedNormal(GraphBuilder* graph, const Shape& shape, double mean = 0, double stddev = 1, TD_LOC);

// Selects rows separately for each example (tf.gather with batch_dims = 1): from params [b, n, ...], indices [b] give
// [b, ...], and indices [b, k, ...] give [b, k, ..., ...]. Every row is read for every index, but NaN in rows that are
// not selected has no effect. An index outside [0, n) gives NaN, or the nearest row if `params` are not floating-point;
// unlike for Gather, indices that are an input are not checked when they are fed.
Tensor GatherRows(const Tensor& params, const Tensor& indices, TD_LOC);
// The sum (product) of the elements up to each element along `axis`, not the batch: without the element itself if
// exclusive, from the end if reverse, as tf.cumsum. Adds pairs (Hillis and Steele), which is more exact than adding one
// after another.
Tensor CumSum(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false, TD_LOC);
Tensor CumProd(const Tensor& x, int64_t axis, bool exclusive = false, bool reverse = false, TD_LOC);
// Sort along `axis`, not the batch. Stable: equal elements keep their order, also if descending. NaN comes last, as in
// numpy.sort, also if descending. Every element is compared with every other, so n elements take time n^2.
Tensor Sort(const Tensor& x, int64_t axis = -1, bool descending = false, TD_LOC);
Tensor ArgSort(const Tensor& x, int64_t axis = -1, bool descending = false, TD_LOC);  // the result is int64
struct TopKResult {
  Tensor values, indices;  // `indices` is int64
};
// The first `k` elements of the descending Sort, with their positions; of equal elements the one with the lower index
// comes first, as in tf.math.top_k.
TopKResult TopK(const Tensor& x, int64_t k, int64_t axis = -1, TD_LOC);

// Sums of products, with dimensions named by letters, as numpy.einsum: "bij,jk->bik". One or two floating-point
// tensors; lower-case letters, none twice in one operand; an output after "->". The batch, if any, is the first letter
// of each tensor that has it; an output without it is the sum over the global batch. Uses MatMul or BatchMatMul where
// possible; a letter of both operands and the output, besides the batch of only one operand, is multiplied element by
// element.
Tensor Einsum(const std::string& equation, const std::vector<Tensor>& xs, TD_LOC);

// Pairs of rows of the whole batch of a step (graph/ops_pairs.cc), for losses that compare examples with each other.
//
// GatherBatch returns x's rows from all replicas and microbatches, in the order of the batch: [b, ...] -> [rows, ...],
// floating-point. `rows` must be at least the number of examples in a step, batch_size * params.num_replicas() *
// RunConfig.accumulate_batches; rows that a short batch does not fill are 0. A step with more examples gives NaN, which
// ends training with an error that names this op. The bits are the same for any number of devices; with parameter
// servers only the batch of one worker is gathered. In the gradient, each row gets the sum of the gradients from all
// examples of the batch.
Tensor GatherBatch(const Tensor& x, int64_t rows, TD_LOC);
// Marks the rows of GatherBatch that are examples: [rows], first ones, then zeros.
Tensor BatchMask(GraphBuilder* graph, int64_t rows, TD_LOC);
// The inner product of every row of x with every row of y: [b, d] x [b, d] -> [b, rows], MatMul(x, GatherBatch(y, rows)
// transposed). Row i of x and column Iota(graph, {kBatch}, 0, DType::kInt64)[i] are the same example.
Tensor PairwiseProducts(const Tensor& x, const Tensor& y, int64_t rows, TD_LOC);

// Optimizer updates: return new values of the variable and its slots. `lr` is a float32 scalar.

// var -= lr grad.
Tensor ApplySgd(const Tensor& var, const Tensor& grad, const Tensor& lr, TD_LOC);
struct UpdateResult {
  Tensor var;
  std::vector<Tensor> slots;
};
// accum = momentum accum + grad; var -= lr accum, or with Nesterov var -= lr (grad + momentum accum).
UpdateResult ApplyMomentum(const Tensor& var, const Tensor& accum, const Tensor& grad, const Tensor& lr,
                           double momentum, bool nesterov, TD_LOC);
// `alpha` = lr * sqrt(1 - beta2^t) / (1 - beta1^t), a scalar; var -= alpha * m / (sqrt(v) + epsilon).
UpdateResult ApplyAdam(const Tensor& var, const Tensor& m, const Tensor& v, const Tensor& grad, const Tensor& alpha,
                       double beta1, double beta2, double epsilon, TD_LOC);
// Keras: ms = rho ms + (1-rho) g^2; var -= lr g / (sqrt(ms) + epsilon); with momentum > 0 a second slot.
UpdateResult ApplyRmsProp(const Tensor& var, const std::vector<Tensor>& slots, const Tensor& grad, const Tensor& lr,
                          double rho, double momentum, double epsilon, TD_LOC);

#undef TD_LOC

}  // namespace tandem

#endif  // TANDEM_GRAPH_OPS_H_
