#include "runtime/cpu/onednn/onednn_convolution.h"

#include <utility>
#include <vector>

#include "runtime/library_calls/conv2d.h"

namespace tandem {
namespace onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

// The operands of a convolution as oneDNN names them: NCHW order of dimensions, any order in memory.
struct Convolution {
  explicit Convolution(const format::Conv2D& c)
      : x(XDims(c), TypeOf(c.x_dtype), Tag::nhwc),
        y(YDims(c), TypeOf(c.y_dtype), Tag::nhwc),
        plain(KernelDims(c), TypeOf(c.kernel_dtype), Groups(c) > 1 ? Tag::hwigo : Tag::hwio),
        any(KernelDims(c), TypeOf(c.kernel_dtype), Tag::any),
        bias({c.kernel_shape[3]}, kF32, Tag::a),
        strides(c.strides),
        low(c.pad_low) {
    // oneDNN requires the exact padding at the end, so pixels that no window reaches are subtracted.
    for (int i = 0; i < 2; ++i) {
      high.push_back((c.y_shape[i + 1] - 1) * c.strides[i] + c.kernel_shape[i] - c.x_shape[i + 1] - c.pad_low[i]);
    }
  }
  static memory::dims XDims(const format::Conv2D& c) {
    return {c.x_shape[0], c.x_shape[3], c.x_shape[1], c.x_shape[2]};
  }
  static memory::dims YDims(const format::Conv2D& c) {
    return {c.y_shape[0], c.y_shape[3], c.y_shape[1], c.y_shape[2]};
  }
  static memory::dims KernelDims(const format::Conv2D& c) {
    const int64_t groups = Groups(c);
    memory::dims dims = {c.kernel_shape[3] / groups, c.kernel_shape[2], c.kernel_shape[0], c.kernel_shape[1]};
    if (groups > 1) dims.insert(dims.begin(), groups);
    return dims;
  }
  dnnl::convolution_forward::primitive_desc Forward(const memory::desc& kernel, bool with_bias,
                                                    const dnnl::primitive_attr& attr) const {
    auto a = algorithm::convolution_direct;
    auto p = prop_kind::forward_training;
    if (with_bias) return {Engine(), p, a, x, kernel, bias, y, strides, low, high, attr};
    return {Engine(), p, a, x, kernel, y, strides, low, high, attr};
  }
  // Returns the forward convolution of a gradient, which oneDNN requires as a hint; its results have the operands'
  // type.
  dnnl::convolution_forward::primitive_desc Hint(const memory::desc& kernel) const {
    constexpr auto kBF16 = memory::data_type::bf16;
    // Operands of bfloat16 may have a float32 result.
    const bool bf16 = x.get_data_type() == kBF16 || y.get_data_type() == kBF16;
    const auto type = bf16 ? kBF16 : kF32;
    return {Engine(),
            prop_kind::forward_training,
            algorithm::convolution_direct,
            memory::desc(x.get_dims(), type, Tag::nhwc),
            memory::desc(kernel.get_dims(), type, Tag::any),
            memory::desc(y.get_dims(), type, Tag::nhwc),
            strides,
            low,
            high,
            Attributes({})};
  }
  dnnl::convolution_backward_data::primitive_desc InputGrad(const memory::desc& kernel) const {
    dnnl::primitive_attr attr = Attributes({});
    return {Engine(), algorithm::convolution_direct, x, kernel, y, strides, low, high, Hint(kernel), attr};
  }
  dnnl::convolution_backward_weights::primitive_desc FilterGrad(const memory::desc& kernel) const {
    dnnl::primitive_attr attr = Attributes({});
    return {Engine(), algorithm::convolution_direct, x, kernel, y, strides, low, high, Hint(kernel), attr};
  }

  memory::desc x, y, plain, any, bias;
  memory::dims strides, low, high;
};

// The filter gradient of a 1x1 convolution is a product over all pixels: x^T dy.
struct PointwiseFilterGrad {
  explicit PointwiseFilterGrad(const format::Conv2D& c) {
    const int64_t pixels = c.x_shape[0] * c.x_shape[1] * c.x_shape[2];
    a = {{c.x_shape[3], pixels}, TypeOf(c.x_dtype), Tag::ba};
    b = {{pixels, c.y_shape[3]}, TypeOf(c.y_dtype), Tag::ab};
    y = {{c.x_shape[3], c.y_shape[3]}, TypeOf(c.kernel_dtype), Tag::ab};
  }
  dnnl::matmul::primitive_desc Make() const { return {Engine(), a, b, y, Attributes({})}; }

  memory::desc a, b, y;
};

}  // namespace

memory::desc PlainKernel(const format::Conv2D& c) { return Convolution(c).plain; }

memory::desc PackedKernel(const format::Conv2D& c) {
  const bool input_grad = c.direction == format::Direction::kInputGrad;
  // Input gradients of strided 1x1 convolutions are always computed as those of dense ones (strided_pointwise.h).
  if (input_grad && IsStridedPointwise(c)) return PackedKernel(DensePointwise(c));
  Convolution conv(c);
  if (input_grad) return conv.InputGrad(conv.any).weights_desc();
  return conv.Forward(conv.any, false, Attributes({})).weights_desc();
}

namespace {

Plan PlanForward(const format::Conv2D& c, const format::Conv2D& packed_for) {
  Convolution conv(c);
  std::vector<Argument> others = {{DNNL_ARG_SRC, Source::kInput0, conv.x}, {DNNL_ARG_DST, Source::kOutput, conv.y}};
  if (c.epilogue.bias) others.push_back({DNNL_ARG_BIAS, Source::kInput2, conv.bias});
  return PlanWithKernel<dnnl::convolution_forward>(
      c.packed, conv.plain,
      [&](const memory::desc& k) { return conv.Forward(k, c.epilogue.bias, Attributes(c.epilogue)); },
      [&] { return PackedKernel(c.packed ? packed_for : c); }, std::move(others));
}

Plan PlanInputGrad(const format::Conv2D& c, const format::Conv2D& packed_for) {
  Convolution conv(c);
  return PlanWithKernel<dnnl::convolution_backward_data>(
      c.packed, conv.plain, [&](const memory::desc& k) { return conv.InputGrad(k); },
      [&] { return PackedKernel(c.packed ? packed_for : c); },
      {{DNNL_ARG_DIFF_DST, Source::kInput0, conv.y}, {DNNL_ARG_DIFF_SRC, Source::kOutput, conv.x}});
}

Plan PlanFilterGrad(const format::Conv2D& c) {
  // The blocked gradient and a reorder beat a plain gradient by 1.5 to 2.7 times (benchmarks/onednn_shapes.cc).
  Convolution conv(c);
  auto pd = conv.FilterGrad(conv.any);
  memory::desc blocked = pd.diff_weights_desc();
  bool plain = blocked == conv.plain;
  Plan plan;
  plan.implementation = pd.impl_info_str();
  plan.AddStage(dnnl::convolution_backward_weights(pd), pd,
                {{DNNL_ARG_SRC, Source::kInput0, conv.x},
                 {DNNL_ARG_DIFF_DST, Source::kInput1, conv.y},
                 {DNNL_ARG_DIFF_WEIGHTS, plain ? Source::kOutput : Source::kTemporary, blocked}});
  if (!plain) {
    plan.temporary_bytes = blocked.get_size();
    plan.AddReorder(blocked, Source::kTemporary, conv.plain, Source::kOutput);
  }
  return plan;
}

}  // namespace

Plan PlanOf(const format::Conv2D& c, const format::Conv2D& packed_for) {
  if (c.direction == format::Direction::kInputGrad) return PlanInputGrad(c, packed_for);
  return c.direction == format::Direction::kForward ? PlanForward(c, packed_for) : PlanFilterGrad(c);
}

Plan PlanPointwiseProduct(const format::Conv2D& c) { return PlanProduct(PointwiseFilterGrad(c).Make()); }

}  // namespace onednn
}  // namespace tandem
