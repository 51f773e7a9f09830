#include "runtime/cuda/cublaslt_calls.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/cuda/gpu_library.h"
#include "runtime/library_call.h"

namespace tandem {
namespace {

// What arenas and variables are aligned to at least (library_calls.h).
constexpr uint32_t kOperandAlignment = 16;

int CudaType(fb::DType type) {
  return LibraryType(type) == fb::DType::BFloat16 ? cublaslt::kBFloat16 : cublaslt::kFloat32;
}

int64_t ElementBytes(fb::DType type) { return SizeOf(static_cast<DType>(LibraryType(type))); }

uint32_t EpilogueOf(const EpilogueParts& parts) {
  uint32_t epilogue = 0;
  if (parts.bias) epilogue += cublaslt::kEpilogueBias;
  if (parts.relu) epilogue += parts.gradient ? cublaslt::kEpilogueReluGrad : cublaslt::kEpilogueRelu;
  if (parts.gelu) epilogue += parts.gradient ? cublaslt::kEpilogueGeluGrad : cublaslt::kEpilogueGelu;
  if (parts.saves || parts.gradient) epilogue += cublaslt::kEpilogueAux;
  if (parts.y_sums) epilogue += cublaslt::kEpilogueBiasGrad;
  if (parts.kernel_sums) epilogue += cublaslt::kEpilogueBiasGradA;  // A is the kernel
  if (parts.x_sums) epilogue += cublaslt::kEpilogueBiasGradB;
  return epilogue == 0 ? cublaslt::kEpilogueDefault : epilogue;
}

int64_t Product(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, int64_t{1}, std::multiplies<int64_t>());
}

// All dimensions but the last are rows.
CublasLtMatrix Rows(const std::vector<int64_t>& shape, bool transpose) {
  CublasLtMatrix m;
  m.rows = m.leading_dimension = shape.back();
  m.columns = Product(shape, 0, shape.size() - 1);
  m.transpose = transpose;
  return m;
}

// The matrices of one operand of a BatchMatMul: [outer, inner, r, c], or [outer, r, inner, c] when swapped. A launch
// goes over `inner` (or over `outer`), and there is one launch per index of the other.
CublasLtMatrix Batched(const std::vector<int64_t>& shape, bool swap, bool transpose, bool launch_inner) {
  const size_t rank = shape.size();
  const int64_t rows = shape[swap ? rank - 3 : rank - 2], columns = shape[rank - 1];
  const int64_t inner = shape[swap ? rank - 2 : rank - 3];
  CublasLtMatrix m;
  m.rows = columns;
  m.columns = rows;
  m.leading_dimension = swap ? inner * columns : columns;
  m.transpose = transpose;
  const int64_t inner_stride = swap ? columns : rows * columns, outer_stride = inner * rows * columns;
  m.batch_stride = launch_inner ? inner_stride : outer_stride;
  m.launch_stride = launch_inner ? outer_stride : inner_stride;
  return m;
}

// Descriptors, destroyed with their owner.
template <typename T>
class Owned {
 public:
  explicit Owned(cublasStatus_t (*destroy)(T)) : destroy_(destroy) {}
  ~Owned() {
    if (value_ != nullptr) destroy_(value_);
  }
  Owned(Owned&& other) noexcept : destroy_(other.destroy_), value_(std::exchange(other.value_, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T get() const { return value_; }
  T* out() { return &value_; }

 private:
  cublasStatus_t (*destroy_)(T);
  T value_ = nullptr;
};

class MatMulCall : public TunableCall {
 public:
  MatMulCall(const CublasLtApi* api, cublasLtHandle_t handle, const LibraryKernels* kernels,
             const fb::LibraryCallT& call)
      : api_(api),
        handle_(handle),
        kernels_(kernels),
        product_(DescribeProduct(call)),
        epilogue_(PartsOf(call.epilogue)),
        bias_elements_(call.y_shape.back()),
        x_type_(LibraryType(call.x_dtype)),
        y_type_(LibraryType(call.y_dtype)),
        desc_(api->cublasLtMatmulDescDestroy),
        first_(api->cublasLtMatrixLayoutDestroy),
        second_(api->cublasLtMatrixLayoutDestroy),
        result_(api->cublasLtMatrixLayoutDestroy) {}

  absl::Status Init(const fb::LibraryCallT& call, int candidates) {
    const int compute =
        call.tf32 && x_type_ == fb::DType::Float32 ? cublaslt::kCompute32FFastTf32 : cublaslt::kCompute32F;
    TD_RETURN_IF_ERROR(
        Check(api_->cublasLtMatmulDescCreate(desc_.out(), compute, cublaslt::kFloat32), "describe a product"));
    TD_RETURN_IF_ERROR(
        SetDesc(cublaslt::kDescTransA, product_.first.transpose ? cublaslt::kOperationT : cublaslt::kOperationN));
    TD_RETURN_IF_ERROR(
        SetDesc(cublaslt::kDescTransB, product_.second.transpose ? cublaslt::kOperationT : cublaslt::kOperationN));
    TD_RETURN_IF_ERROR(SetDesc(cublaslt::kDescEpilogue, EpilogueOf(epilogue_)));
    // The heuristic looks at the pointers' alignments.
    if (UsesBiasPointer()) TD_RETURN_IF_ERROR(SetBias(256));
    if (epilogue_.saves || epilogue_.gradient) {
      TD_RETURN_IF_ERROR(SetAux(256));
      // In elements, which are bits in a mask.
      const int64_t row = call.y_shape.back();
      TD_RETURN_IF_ERROR(
          SetDesc(cublaslt::kDescAuxLeadingDimension, epilogue_.relu ? ReluMaskShape(call.y_shape).back() * 8 : row));
    }
    TD_RETURN_IF_ERROR(MakeLayout(product_.first, call.kernel_dtype, first_));
    TD_RETURN_IF_ERROR(MakeLayout(product_.second, call.x_dtype, second_));
    TD_RETURN_IF_ERROR(MakeLayout(product_.result, call.y_dtype, result_));
    return FindAlgorithms(call, candidates);
  }

  uint64_t workspace_bytes() const override { return BiasOffset() + (NarrowBias() ? bias_elements_ * 2 : 0); }
  const std::string& implementation() const override { return implementation_; }
  int candidates() const override { return static_cast<int>(algorithms_.size()); }
  void Select(int candidate) override { selected_ = candidate; }
  std::string CandidateName(int candidate) const override {
    const cublasLtMatmulAlgo_t& algo = algorithms_[candidate].algo;
    return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(algo.data), sizeof algo.data));
  }

  absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs,
                       CUdeviceptr workspace, CUstream stream) override {
    const size_t more_inputs = epilogue_.bias + epilogue_.gradient;
    const size_t more_outputs = epilogue_.saves + SumsUp();
    if (inputs.size() != 2 + more_inputs || outputs.size() != 1 + more_outputs) {
      return absl::InternalError("a matrix product got another number of operands than it was prepared for");
    }
    if (epilogue_.gradient) TD_RETURN_IF_ERROR(SetAux(inputs.back()));
    if (epilogue_.saves) TD_RETURN_IF_ERROR(SetAux(outputs[1]));
    if (SumsUp()) TD_RETURN_IF_ERROR(SetBias(outputs.back()));
    if (epilogue_.bias) {
      CUdeviceptr bias = inputs[2];
      if (NarrowBias()) {
        bias = workspace + BiasOffset();
        TD_RETURN_IF_ERROR(
            kernels_->Convert(inputs[2], fb::DType::Float32, bias, fb::DType::BFloat16, bias_elements_, stream));
      }
      TD_RETURN_IF_ERROR(SetBias(bias));
    }
    const cublasLtMatmulHeuristicResult_t& algorithm = algorithms_[selected_];
    const float one = 1, zero = 0;
    const int64_t in_bytes = ElementBytes(x_type_), out_bytes = ElementBytes(y_type_);
    for (int64_t i = 0; i < product_.launches; ++i) {
      auto* a = Pointer(inputs[1] + i * product_.first.launch_stride * in_bytes);
      auto* b = Pointer(inputs[0] + i * product_.second.launch_stride * in_bytes);
      auto* d = Pointer(outputs[0] + i * product_.result.launch_stride * out_bytes);
      TD_RETURN_IF_ERROR(Check(api_->cublasLtMatmul(handle_, desc_.get(), &one, a, first_.get(), b, second_.get(),
                                                    &zero, d, result_.get(), d, result_.get(), &algorithm.algo,
                                                    algorithm.workspaceSize > 0 ? Pointer(workspace) : nullptr,
                                                    algorithm.workspaceSize, stream),
                               "multiply"));
    }
    return absl::OkStatus();
  }

 private:
  static void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
  absl::Status Check(cublasStatus_t status, const char* what) const { return CublasLtStatus(*api_, status, what); }

  bool SumsUp() const { return epilogue_.y_sums || epilogue_.x_sums || epilogue_.kernel_sums; }
  // The gradient of a bias goes where the bias would come from.
  bool UsesBiasPointer() const { return epilogue_.bias || SumsUp(); }
  // cuBLASLt takes a bias in the result's type only.
  bool NarrowBias() const { return epilogue_.bias && y_type_ == fb::DType::BFloat16; }
  uint64_t BiasOffset() const { return (algorithms_[selected_].workspaceSize + 255) / 256 * 256; }

  template <typename T>
  absl::Status SetDesc(int attribute, T value) {
    return Check(api_->cublasLtMatmulDescSetAttribute(desc_.get(), attribute, &value, sizeof value),
                 "describe a product");
  }
  absl::Status SetAux(CUdeviceptr address) { return SetDesc(cublaslt::kDescAuxPointer, Pointer(address)); }
  absl::Status SetBias(CUdeviceptr address) { return SetDesc(cublaslt::kDescBiasPointer, Pointer(address)); }

  absl::Status MakeLayout(const CublasLtMatrix& m, fb::DType type, Owned<cublasLtMatrixLayout_t>& layout) {
    TD_RETURN_IF_ERROR(
        Check(api_->cublasLtMatrixLayoutCreate(layout.out(), CudaType(type), m.rows, m.columns, m.leading_dimension),
              "describe a matrix"));
    if (product_.batch == 1) return absl::OkStatus();
    const int32_t batch = static_cast<int32_t>(product_.batch);
    TD_RETURN_IF_ERROR(
        Check(api_->cublasLtMatrixLayoutSetAttribute(layout.get(), cublaslt::kLayoutBatchCount, &batch, sizeof batch),
              "describe a batch"));
    return Check(api_->cublasLtMatrixLayoutSetAttribute(layout.get(), cublaslt::kLayoutStridedBatchOffset,
                                                        &m.batch_stride, sizeof m.batch_stride),
                 "describe a batch");
  }

  // Every launch begins at this many bytes from an operand's aligned start, or a multiple.
  static uint32_t Alignment(const CublasLtMatrix& m, fb::DType type, int64_t launches) {
    if (launches == 1) return kOperandAlignment;
    return static_cast<uint32_t>(std::gcd<int64_t>(kOperandAlignment, m.launch_stride * ElementBytes(type)));
  }

  absl::Status FindAlgorithms(const fb::LibraryCallT& call, int candidates) {
    Owned<cublasLtMatmulPreference_t> preference(api_->cublasLtMatmulPreferenceDestroy);
    TD_RETURN_IF_ERROR(Check(api_->cublasLtMatmulPreferenceCreate(preference.out()), "state preferences"));
    auto set = [&](int attribute, auto value) {
      return Check(api_->cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
                   "state preferences");
    };
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMaxWorkspaceBytes, kCublasLtWorkspace));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefReductionSchemeMask, cublaslt::kReductionComputeType));
    const int64_t launches = product_.launches;
    const uint32_t result = Alignment(product_.result, call.y_dtype, launches);
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentA, Alignment(product_.first, call.kernel_dtype, launches)));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentB, Alignment(product_.second, call.x_dtype, launches)));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentC, result));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentD, result));
    algorithms_.resize(std::max(candidates, 1));
    int found = 0;
    const cublasStatus_t status = api_->cublasLtMatmulAlgoGetHeuristic(
        handle_, desc_.get(), first_.get(), second_.get(), result_.get(), result_.get(), preference.get(),
        static_cast<int>(algorithms_.size()), algorithms_.data(), &found);
    if (status != cublaslt::kNotSupported) TD_RETURN_IF_ERROR(Check(status, "choose an algorithm"));
    algorithms_.resize(found);
    algorithms_.erase(std::remove_if(algorithms_.begin(), algorithms_.end(),
                                     [](const auto& r) { return r.state != cublaslt::kSuccess; }),
                      algorithms_.end());
    if (algorithms_.empty()) {
      return absl::UnimplementedError(absl::StrCat("cuBLASLt cannot multiply ", ShapeString(call.x_shape), " by ",
                                                   ShapeString(call.kernel_shape), " into ", ShapeString(call.y_shape),
                                                   " of these types on this GPU", Advice(call.epilogue)));
    }
    return absl::OkStatus();
  }

  static std::string Advice(fb::Epilogue epilogue) {
    if (epilogue <= fb::Epilogue::Relu) return "";
    return absl::StrCat(" with the epilogue ", fb::EnumNameEpilogue(epilogue),
                        "; compile with TANDEM_FLAGS=--disable-pass=td-take-gpu-epilogues to do without");
  }

  const CublasLtApi* api_;
  cublasLtHandle_t handle_;
  const LibraryKernels* kernels_;
  CublasLtProduct product_;
  EpilogueParts epilogue_;
  int64_t bias_elements_;
  fb::DType x_type_, y_type_;
  Owned<cublasLtMatmulDesc_t> desc_;
  Owned<cublasLtMatrixLayout_t> first_, second_, result_;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms_;
  int selected_ = 0;
  std::string implementation_ = "cuBLASLt";
};

}  // namespace

CublasLtProduct DescribeProduct(const fb::LibraryCallT& call) {
  CublasLtProduct p;
  if (call.primitive == fb::Primitive::MatMul) {
    p.first = Rows(call.kernel_shape, call.transpose_b);
    p.second = Rows(call.x_shape, call.transpose_a);
    p.result = Rows(call.y_shape, false);
    return p;
  }
  const size_t rank = call.x_shape.size();
  const bool swapped = call.swap_x || call.swap_kernel || call.swap_y;
  // y's dimensions: outer x inner products.
  const int64_t inner = call.y_shape[call.swap_y ? rank - 2 : rank - 3];
  const int64_t outer = Product(call.y_shape, 0, rank - 3);
  // Unswapped matrices lie one behind another: `inner_stride * inner` is the outer stride, and one launch does all.
  const bool launch_inner = !swapped || inner >= outer;
  p.first = Batched(call.kernel_shape, call.swap_kernel, call.transpose_b, launch_inner);
  p.second = Batched(call.x_shape, call.swap_x, call.transpose_a, launch_inner);
  p.result = Batched(call.y_shape, call.swap_y, false, launch_inner);
  p.batch = !swapped ? inner * outer : launch_inner ? inner : outer;
  p.launches = !swapped ? 1 : launch_inner ? outer : inner;
  return p;
}

absl::StatusOr<std::unique_ptr<CublasLtDevice>> CublasLtDevice::Create(const CublasLtApi* api) {
  cublasLtHandle_t handle = nullptr;
  TD_RETURN_IF_ERROR(CublasLtStatus(*api, api->cublasLtCreate(&handle), "start on this GPU"));
  return std::unique_ptr<CublasLtDevice>(new CublasLtDevice(api, handle));
}

CublasLtDevice::~CublasLtDevice() { api_->cublasLtDestroy(handle_); }

absl::StatusOr<std::unique_ptr<TunableCall>> CublasLtDevice::Prepare(const fb::LibraryCallT& call,
                                                                     const LibraryKernels* kernels, int candidates) {
  auto prepared = std::make_unique<MatMulCall>(api_, handle_, kernels, call);
  TD_RETURN_IF_ERROR(prepared->Init(call, candidates));
  return prepared;
}

}  // namespace tandem
