#include "runtime/cpu/onednn_primitives.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_layout.h"
#include "runtime/cpu/pack_matrix.h"
#include "runtime/cpu/plain_product.h"
#include "runtime/library_call.h"

extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace tandem {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;

memory::data_type TypeOf(fb::DType type) {
  return type == fb::DType::BFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

const dnnl::engine& Engine() {
  static const dnnl::engine* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

// The number of threads is part of a primitive: creation happens under the same setting as execution.
class OneOmpThread {
 public:
  OneOmpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOmpThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

// Where an argument's buffer comes from.
enum class Source { kInput0, kInput1, kInput2, kOutput, kTemporary, kScratchpad };

struct Argument {
  int id;
  Source source;
  memory::desc desc;
};

// One primitive of a call and its arguments. A call is one stage, or two with a change of layout between them.
struct Stage {
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
};

struct Plan {
  std::vector<Stage> stages;
  std::string implementation;
  uint64_t temporary_bytes = 0, scratchpad_bytes = 0;

  void AddStage(dnnl::primitive primitive, const dnnl::primitive_desc_base& pd, std::vector<Argument> arguments) {
    memory::desc scratchpad = pd.scratchpad_desc();
    if (scratchpad.get_size() > 0) {
      arguments.push_back({DNNL_ARG_SCRATCHPAD, Source::kScratchpad, scratchpad});
      scratchpad_bytes = std::max<uint64_t>(scratchpad_bytes, scratchpad.get_size());
    }
    stages.push_back({std::move(primitive), std::move(arguments)});
  }

  void AddReorder(const memory::desc& from, Source from_source, const memory::desc& to, Source to_source) {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::reorder::primitive_desc pd(Engine(), from, Engine(), to, attr);
    if (implementation.empty()) implementation = pd.impl_info_str();
    AddStage(dnnl::reorder(pd), pd, {{DNNL_ARG_FROM, from_source, from}, {DNNL_ARG_TO, to_source, to}});
  }
};

bool IsReference(const char* implementation) { return absl::StrContains(implementation, "ref"); }

dnnl::primitive_attr Attributes(fb::Epilogue epilogue) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (epilogue == fb::Epilogue::Relu || epilogue == fb::Epilogue::BiasRelu) {
    dnnl::post_ops ops;
    ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
    attr.set_post_ops(ops);
  }
  return attr;
}

bool HasBias(const fb::LibraryCallT& c) {
  return c.epilogue == fb::Epilogue::Bias || c.epilogue == fb::Epilogue::BiasRelu;
}

// The operands of a convolution as oneDNN names them: NCHW order of dimensions, any order in memory.
struct Convolution {
  explicit Convolution(const fb::LibraryCallT& c)
      : x(XDims(c), TypeOf(c.x_dtype), Tag::nhwc),
        y(YDims(c), TypeOf(c.y_dtype), Tag::nhwc),
        plain(KernelDims(c), TypeOf(c.kernel_dtype), Tag::hwio),
        any(KernelDims(c), TypeOf(c.kernel_dtype), Tag::any),
        bias({c.kernel_shape[3]}, kF32, Tag::a),
        strides(c.strides),
        low(c.pad_low) {
    // oneDNN wants the exact padding behind: what the windows do not reach is left out.
    for (int i = 0; i < 2; ++i) {
      high.push_back((c.y_shape[i + 1] - 1) * c.strides[i] + c.kernel_shape[i] - c.x_shape[i + 1] - c.pad_low[i]);
    }
  }
  static memory::dims XDims(const fb::LibraryCallT& c) {
    return {c.x_shape[0], c.x_shape[3], c.x_shape[1], c.x_shape[2]};
  }
  static memory::dims YDims(const fb::LibraryCallT& c) {
    return {c.y_shape[0], c.y_shape[3], c.y_shape[1], c.y_shape[2]};
  }
  static memory::dims KernelDims(const fb::LibraryCallT& c) {
    return {c.kernel_shape[3], c.kernel_shape[2], c.kernel_shape[0], c.kernel_shape[1]};
  }
  dnnl::convolution_forward::primitive_desc Forward(const memory::desc& kernel, bool with_bias,
                                                    const dnnl::primitive_attr& attr) const {
    auto a = algorithm::convolution_direct;
    auto p = prop_kind::forward_training;
    if (with_bias) return {Engine(), p, a, x, kernel, bias, y, strides, low, high, attr};
    return {Engine(), p, a, x, kernel, y, strides, low, high, attr};
  }
  // The forward convolution that a gradient belongs to, with results of the operands' type.
  dnnl::convolution_forward::primitive_desc Hint(const memory::desc& kernel) const {
    constexpr auto kBF16 = memory::data_type::bf16;
    const bool bf16 = x.get_data_type() == kBF16 || y.get_data_type() == kBF16;  // a float32 result aside
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
            Attributes(fb::Epilogue::None)};
  }
  dnnl::convolution_backward_data::primitive_desc InputGrad(const memory::desc& kernel) const {
    dnnl::primitive_attr attr = Attributes(fb::Epilogue::None);
    return {Engine(), algorithm::convolution_direct, x, kernel, y, strides, low, high, Hint(kernel), attr};
  }
  dnnl::convolution_backward_weights::primitive_desc FilterGrad(const memory::desc& kernel) const {
    dnnl::primitive_attr attr = Attributes(fb::Epilogue::None);
    return {Engine(), algorithm::convolution_direct, x, kernel, y, strides, low, high, Hint(kernel), attr};
  }

  memory::desc x, y, plain, any, bias;
  memory::dims strides, low, high;
};

struct MatMul {
  explicit MatMul(const fb::LibraryCallT& c)
      : a(Dims(c.x_shape, c.transpose_a), TypeOf(c.x_dtype), c.transpose_a ? Tag::ba : Tag::ab),
        plain(Dims(c.kernel_shape, c.transpose_b), TypeOf(c.kernel_dtype), c.transpose_b ? Tag::ba : Tag::ab),
        any(Dims(c.kernel_shape, c.transpose_b), TypeOf(c.kernel_dtype), Tag::any),
        bias({1, c.y_shape.back()}, kF32, Tag::ab),
        y(Dims(c.y_shape, false), TypeOf(c.y_dtype), Tag::ab) {}
  // All dimensions but the last are rows.
  static memory::dims Dims(const std::vector<int64_t>& shape, bool transpose) {
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    return transpose ? memory::dims{shape.back(), rows} : memory::dims{rows, shape.back()};
  }
  dnnl::matmul::primitive_desc Make(const memory::desc& b, bool with_bias, const dnnl::primitive_attr& attr) const {
    if (with_bias) return {Engine(), a, b, bias, y, attr};
    return {Engine(), a, b, y, attr};
  }

  memory::desc a, plain, any, bias, y;
};

// The filter gradient of a 1x1 convolution is a product over all pixels: x^T dy.
struct PointwiseFilterGrad {
  explicit PointwiseFilterGrad(const fb::LibraryCallT& c) {
    const int64_t pixels = c.x_shape[0] * c.x_shape[1] * c.x_shape[2];
    a = {{c.x_shape[3], pixels}, TypeOf(c.x_dtype), Tag::ba};
    b = {{pixels, c.y_shape[3]}, TypeOf(c.y_dtype), Tag::ab};
    y = {{c.x_shape[3], c.y_shape[3]}, TypeOf(c.kernel_dtype), Tag::ab};
  }
  // Products are faster where the gradient is large or wide. On Zen 4, one thread, in float32: 97 to 98 instead of 86
  // to 88 GFLOP/s for 256 x 1024 and 1024 x 256 on 392 pixels, 87 instead of 65 for 64 x 256 on 6272; in bfloat16 196
  // to 199 instead of 170 to 180, and 150 both. The other way round for 256 x 64: 75 and 82.
  static bool Pays(const fb::LibraryCallT& c) {
    constexpr int64_t kMinElements = 1 << 18, kMinColumns = 32;
    const int64_t in = c.kernel_shape[2], out = c.kernel_shape[3];
    const std::vector<int64_t> one = {1, 1}, none = {0, 0};
    return c.kernel_shape[0] == 1 && c.kernel_shape[1] == 1 && c.strides == one && c.pad_low == none &&
           c.pad_high == none && (in * out >= kMinElements || (out >= 4 * in && in >= kMinColumns));
  }
  dnnl::matmul::primitive_desc Make() const { return {Engine(), a, b, y, Attributes(fb::Epilogue::None)}; }

  memory::desc a, b, y;
};

// oneDNN takes operands with any strides: nothing is transposed or swapped in memory.
struct BatchMatMul {
  explicit BatchMatMul(const fb::LibraryCallT& c)
      : a(Desc(c.x_shape, TypeOf(c.x_dtype), c.swap_x, c.transpose_a)),
        b(Desc(c.kernel_shape, TypeOf(c.kernel_dtype), c.swap_kernel, c.transpose_b)),
        y(Desc(c.y_shape, TypeOf(c.y_dtype), c.swap_y, false)) {}
  // [leading dimensions but one, the last of them, rows, columns].
  static memory::desc Desc(const std::vector<int64_t>& stored, memory::data_type type, bool swap, bool transpose) {
    size_t rank = stored.size();
    int64_t batches = 1;
    for (size_t i = 0; i + 3 < rank; ++i) batches *= stored[i];
    int64_t heads = stored[swap ? rank - 2 : rank - 3], rows = stored[swap ? rank - 3 : rank - 2];
    int64_t columns = stored[rank - 1], row_stride = columns, column_stride = 1, head_stride = rows * columns;
    int64_t batch_stride = heads * rows * columns;
    if (swap) {
      row_stride = heads * columns;
      head_stride = columns;
    }
    if (transpose) {
      std::swap(rows, columns);
      std::swap(row_stride, column_stride);
    }
    return {{batches, heads, rows, columns}, type, memory::dims{batch_stride, head_stride, row_stride, column_stride}};
  }

  memory::desc a, b, y;
};

// The packed layout of a kernel operand. It is asked for without epilogue, so that producer and consumer always agree.
memory::desc PackedDesc(const fb::LibraryCallT& c, fb::Primitive primitive) {
  dnnl::primitive_attr attr = Attributes(fb::Epilogue::None);
  switch (primitive) {
    case fb::Primitive::Conv2D: {
      Convolution conv(c);
      return conv.Forward(conv.any, false, attr).weights_desc();
    }
    case fb::Primitive::Conv2DInputGrad: {
      Convolution conv(c);
      return conv.InputGrad(conv.any).weights_desc();
    }
    default: {
      MatMul m(c);
      return m.Make(m.any, false, attr).weights_desc();
    }
  }
}

// Adds a primitive with a kernel operand. A plain kernel whose layout only the reference implementation takes is
// reordered first.
template <typename MakeDesc, typename Primitive>
void AddWithKernel(Plan& plan, const fb::LibraryCallT& call, const memory::desc& plain, MakeDesc make, Primitive*,
                   std::vector<Argument> others) {
  memory::desc kernel = call.packed ? PackedDesc(call, call.primitive) : plain;
  auto pd = make(kernel);
  Source source = Source::kInput1;
  if (!call.packed && IsReference(pd.impl_info_str())) {
    kernel = PackedDesc(call, call.primitive);
    pd = make(kernel);
    plan.temporary_bytes = kernel.get_size();
    plan.AddReorder(plain, Source::kInput1, kernel, Source::kTemporary);
    source = Source::kTemporary;
  }
  plan.implementation = pd.impl_info_str();
  others.push_back({DNNL_ARG_WEIGHTS, source, kernel});
  plan.AddStage(Primitive(pd), pd, std::move(others));
}

Plan MakePlan(const fb::LibraryCallT& c) {
  Plan plan;
  dnnl::primitive_attr attr = Attributes(c.epilogue);
  switch (c.primitive) {
    case fb::Primitive::Conv2D: {
      Convolution conv(c);
      std::vector<Argument> others = {{DNNL_ARG_SRC, Source::kInput0, conv.x}, {DNNL_ARG_DST, Source::kOutput, conv.y}};
      if (HasBias(c)) others.push_back({DNNL_ARG_BIAS, Source::kInput2, conv.bias});
      AddWithKernel(
          plan, c, conv.plain, [&](const memory::desc& k) { return conv.Forward(k, HasBias(c), attr); },
          static_cast<dnnl::convolution_forward*>(nullptr), std::move(others));
      break;
    }
    case fb::Primitive::Conv2DInputGrad: {
      Convolution conv(c);
      AddWithKernel(plan, c, conv.plain, [&](const memory::desc& k) { return conv.InputGrad(k); },
                    static_cast<dnnl::convolution_backward_data*>(nullptr),
                    {{DNNL_ARG_DIFF_DST, Source::kInput0, conv.y}, {DNNL_ARG_DIFF_SRC, Source::kOutput, conv.x}});
      break;
    }
    case fb::Primitive::Conv2DFilterGrad: {
      if (PointwiseFilterGrad::Pays(c)) {
        PointwiseFilterGrad m(c);
        auto pd = m.Make();
        if (!IsReference(pd.impl_info_str())) {
          plan.implementation = pd.impl_info_str();
          plan.AddStage(dnnl::matmul(pd), pd,
                        {{DNNL_ARG_SRC, Source::kInput0, m.a},
                         {DNNL_ARG_WEIGHTS, Source::kInput1, m.b},
                         {DNNL_ARG_DST, Source::kOutput, m.y}});
          break;
        }
      }
      // The blocked gradient and a reorder beat a plain gradient by 1.5 to 2.7 times (benchmarks/onednn_shapes.cc).
      Convolution conv(c);
      auto pd = conv.FilterGrad(conv.any);
      memory::desc blocked = pd.diff_weights_desc();
      bool plain = blocked == conv.plain;
      plan.implementation = pd.impl_info_str();
      plan.AddStage(dnnl::convolution_backward_weights(pd), pd,
                    {{DNNL_ARG_SRC, Source::kInput0, conv.x},
                     {DNNL_ARG_DIFF_DST, Source::kInput1, conv.y},
                     {DNNL_ARG_DIFF_WEIGHTS, plain ? Source::kOutput : Source::kTemporary, blocked}});
      if (!plain) {
        plan.temporary_bytes = blocked.get_size();
        plan.AddReorder(blocked, Source::kTemporary, conv.plain, Source::kOutput);
      }
      break;
    }
    case fb::Primitive::MatMul: {
      MatMul m(c);
      std::vector<Argument> others = {{DNNL_ARG_SRC, Source::kInput0, m.a}, {DNNL_ARG_DST, Source::kOutput, m.y}};
      if (HasBias(c)) others.push_back({DNNL_ARG_BIAS, Source::kInput2, m.bias});
      AddWithKernel(
          plan, c, m.plain, [&](const memory::desc& k) { return m.Make(k, HasBias(c), attr); },
          static_cast<dnnl::matmul*>(nullptr), std::move(others));
      break;
    }
    case fb::Primitive::BatchMatMul: {
      BatchMatMul m(c);
      dnnl::matmul::primitive_desc pd(Engine(), m.a, m.b, m.y, attr);
      plan.implementation = pd.impl_info_str();
      plan.AddStage(dnnl::matmul(pd), pd,
                    {{DNNL_ARG_SRC, Source::kInput0, m.a},
                     {DNNL_ARG_WEIGHTS, Source::kInput1, m.b},
                     {DNNL_ARG_DST, Source::kOutput, m.y}});
      break;
    }
    case fb::Primitive::PackWeights: {
      bool matmul = c.packed_for == fb::Primitive::MatMul;
      fb::LibraryCallT from = c;  // the master weights may be float32 and the packed ones bfloat16: one reorder
      from.kernel_dtype = c.plain_dtype;
      memory::desc plain = matmul ? MatMul(from).plain : Convolution(from).plain;
      plan.AddReorder(plain, Source::kInput0, PackedDesc(c, c.packed_for), Source::kOutput);
      break;
    }
  }
  return plan;
}

uint64_t AlignUp(uint64_t n) { return (n + 63) / 64 * 64; }

class Primitive final : public OneDnnPrimitive {
 public:
  Primitive(Plan plan, int num_threads) : plan_(std::move(plan)) {
    for (int t = 0; t < num_threads; ++t) {
      Thread thread{dnnl::stream(Engine()), {}};
      for (const Stage& stage : plan_.stages) {
        std::vector<memory> memories;
        std::vector<dnnl_exec_arg_t> arguments;
        for (const Argument& a : stage.arguments) {
          memories.emplace_back(a.desc, Engine(), static_cast<void*>(nullptr));
          arguments.push_back({a.id, memories.back().get()});
        }
        thread.stages.push_back({std::move(memories), std::move(arguments)});
      }
      threads_.push_back(std::move(thread));
    }
  }

  const std::string& implementation() const override { return plan_.implementation; }
  uint64_t scratch_bytes() const override { return AlignUp(plan_.temporary_bytes) + AlignUp(plan_.scratchpad_bytes); }

  absl::Status RunParts(int thread, absl::Span<void* const> in, void* out, void* scratch, int64_t,
                        int64_t) const override {
    const Thread& t = threads_[thread];
    auto* bytes = static_cast<uint8_t*>(scratch);
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      const ThreadStage& mine = t.stages[s];
      for (size_t i = 0; i < stage.arguments.size(); ++i) {
        void* p = nullptr;
        switch (stage.arguments[i].source) {
          case Source::kOutput:
            p = out;
            break;
          case Source::kTemporary:
            p = bytes;
            break;
          case Source::kScratchpad:
            p = bytes + AlignUp(plan_.temporary_bytes);
            break;
          default:
            p = in[static_cast<int>(stage.arguments[i].source)];
        }
        dnnl_memory_set_data_handle(mine.memories[i].get(), p);
      }
      dnnl_status_t status = dnnl_primitive_execute(stage.primitive.get(), t.stream.get(),
                                                    static_cast<int>(mine.arguments.size()), mine.arguments.data());
      if (status != dnnl_success) {
        return absl::InternalError(absl::StrCat("oneDNN's ", plan_.implementation, " failed with status ", status));
      }
    }
    return absl::OkStatus();
  }

 private:
  struct ThreadStage {
    std::vector<memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Thread {
    dnnl::stream stream;
    std::vector<ThreadStage> stages;
  };

  Plan plan_;
  std::vector<Thread> threads_;
};

// Whether the packed layout is that of PackMatrix.
bool IsPackedMatrix(const memory::desc& desc) {
  const memory::dims padded = desc.get_padded_dims();
  return desc.get_data_type() == kF32 && padded.size() == 2 && padded[0] % kPackedRows == 0 &&
         desc.get_inner_idxs() == memory::dims{0, 1} &&
         desc.get_inner_blks() == memory::dims{kPackedRows, kPackedColumns} &&
         desc.get_strides() == memory::dims{kPackedRows * kPackedColumns, padded[0] * kPackedColumns} &&
         desc.get_size() == sizeof(float) * padded[0] * padded[1];
}

// A packing that oneDNN does slowly, and never in parts.
bool PacksMatrix(const fb::LibraryCallT& c) {
  return c.primitive == fb::Primitive::PackWeights && c.packed_for == fb::Primitive::MatMul &&
         TypeOf(c.plain_dtype) == kF32 && TypeOf(c.kernel_dtype) == kF32 && IsPackedMatrix(PackedDesc(c, c.packed_for));
}

constexpr char kPackMatrix[] = "pack_matrix";

class MatrixPacking final : public OneDnnPrimitive {
 public:
  explicit MatrixPacking(const fb::LibraryCallT& c) : implementation_(kPackMatrix), transposed_(c.transpose_b) {
    const memory::dims dims = MatMul(c).plain.get_dims();
    rows_ = dims[0];
    columns_ = dims[1];
  }

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return 0; }
  int64_t parts() const override { return (columns_ + kPackedColumns - 1) / kPackedColumns; }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void*, int64_t begin, int64_t end) const override {
    PackMatrix(static_cast<const float*>(in[0]), rows_, columns_, transposed_, begin, end, static_cast<float*>(out));
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const bool transposed_;
  int64_t rows_, columns_;
};

PlainProduct PlainProductOf(const fb::LibraryCallT& c) {
  const memory::dims x = MatMul::Dims(c.x_shape, false);
  const bool relu = c.epilogue == fb::Epilogue::Relu || c.epilogue == fb::Epilogue::BiasRelu;
  return {x[0], x[1], c.y_shape.back(), c.transpose_b, relu};
}

bool IsPlainProduct(const fb::LibraryCallT& c) {
  for (fb::DType type : {c.x_dtype, c.kernel_dtype, c.y_dtype}) {
    if (TypeOf(type) != kF32) return false;
  }
  return c.primitive == fb::Primitive::MatMul && !c.packed && !c.transpose_a && c.kernel_shape.size() == 2 &&
         PlainProductPays(PlainProductOf(c));
}

constexpr char kPlainProduct[] = "plain_product";

class ProductWithPlainMatrix final : public OneDnnPrimitive {
 public:
  explicit ProductWithPlainMatrix(const fb::LibraryCallT& c)
      : implementation_(kPlainProduct), product_(PlainProductOf(c)), bias_(HasBias(c)) {}

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return AlignUp(sizeof(float) * PlainProductScratch(product_)); }
  absl::Status RunParts(int, absl::Span<void* const> in, void* out, void* scratch, int64_t, int64_t) const override {
    RunPlainProduct(product_, static_cast<const float*>(in[0]), static_cast<const float*>(in[1]),
                    bias_ ? static_cast<const float*>(in[2]) : nullptr, static_cast<float*>(out),
                    static_cast<float*>(scratch));
    return absl::OkStatus();
  }

 private:
  const std::string implementation_;
  const PlainProduct product_;
  const bool bias_;
};

absl::Status CheckCall(const fb::LibraryCallT& call) {
  TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
  if (call.epilogue <= fb::Epilogue::Relu) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the epilogue ", fb::EnumNameEpilogue(call.epilogue), " is for GPUs"));
}

absl::Status FromException(const dnnl::error& error) {
  return absl::UnimplementedError(absl::StrCat("oneDNN has no such primitive: ", error.what()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> OneDnnPrimitive::Create(const fb::LibraryCallT& call,
                                                                         int num_threads) {
  TD_RETURN_IF_ERROR(CheckCall(call));
  OneOmpThread one;
  try {
    if (IsPlainProduct(call)) return std::make_unique<ProductWithPlainMatrix>(call);
    if (PacksMatrix(call)) return std::make_unique<MatrixPacking>(call);
    return std::make_unique<Primitive>(MakePlan(call), num_threads);
  } catch (const dnnl::error& error) {
    return FromException(error);
  }
}

bool ReadsPlainWeights(const fb::LibraryCallT& call) { return CheckLibraryCall(call).ok() && IsPlainProduct(call); }

absl::StatusOr<uint64_t> PackedWeightsBytes(const fb::LibraryCallT& call) {
  TD_RETURN_IF_ERROR(CheckCall(call));
  fb::Primitive primitive = call.primitive == fb::Primitive::PackWeights ? call.packed_for : call.primitive;
  if (primitive == fb::Primitive::Conv2DFilterGrad || primitive == fb::Primitive::BatchMatMul)
    return absl::InvalidArgumentError("a filter gradient or batched product packs nothing");
  OneOmpThread one;
  try {
    return PackedDesc(call, primitive).get_size();
  } catch (const dnnl::error& error) {
    return FromException(error);
  }
}

absl::StatusOr<std::string> ImplementationName(const fb::LibraryCallT& call) {
  TD_RETURN_IF_ERROR(CheckCall(call));
  OneOmpThread one;
  try {
    if (IsPlainProduct(call)) return kPlainProduct;
    if (PacksMatrix(call)) return kPackMatrix;
    return MakePlan(call).implementation;
  } catch (const dnnl::error& error) {
    return FromException(error);
  }
}

}  // namespace tandem
