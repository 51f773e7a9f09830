#include "runtime/cuda/libraries/cublaslt_calls.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/dtype.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "runtime/library_calls/cublaslt_product.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

// The least alignment of arenas and variables (library_calls.h).
constexpr uint32_t kOperandAlignment = 16;

int CudaType(DType type) { return type == DType::kBFloat16 ? cublaslt::kBFloat16 : cublaslt::kFloat32; }

int64_t ElementBytes(DType type) { return SizeOf(type); }

uint32_t EpilogueOf(const format::Epilogue& e) {
  uint32_t epilogue = 0;
  if (e.bias) epilogue += cublaslt::kEpilogueBias;
  if (e.relu()) epilogue += e.gradient ? cublaslt::kEpilogueReluGrad : cublaslt::kEpilogueRelu;
  if (e.gelu()) epilogue += e.gradient ? cublaslt::kEpilogueGeluGrad : cublaslt::kEpilogueGelu;
  if (e.saves || e.gradient) epilogue += cublaslt::kEpilogueAux;
  if (e.sums == format::Summed::kY) epilogue += cublaslt::kEpilogueBiasGrad;
  if (e.sums == format::Summed::kB) epilogue += cublaslt::kEpilogueBiasGradA;  // the A of cuBLASLt is the call's b
  if (e.sums == format::Summed::kA) epilogue += cublaslt::kEpilogueBiasGradB;
  return epilogue == 0 ? cublaslt::kEpilogueDefault : epilogue;
}

// Owns one of cuBLASLt's descriptors, and destroys it.
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
  // Destroys the current value and returns the address for a new one.
  T* out() {
    if (value_ != nullptr) destroy_(value_);
    value_ = nullptr;
    return &value_;
  }

 private:
  cublasStatus_t (*destroy_)(T);
  T value_ = nullptr;
};

// A way to issue a call. By strides, one launch computes the matrices that a single stride reaches, and there is a
// launch for each index of the remaining dimension. By addresses, one launch computes all matrices, and reads an array
// of their addresses for each operand.
struct Form {
  explicit Form(const CublasLtApi* api)
      : first(api->cublasLtMatrixLayoutDestroy),
        second(api->cublasLtMatrixLayoutDestroy),
        result(api->cublasLtMatrixLayoutDestroy) {}
  bool addresses = false;
  Owned<cublasLtMatrixLayout_t> first, second, result;
};

class MatMulCall : public TunableCall {
 public:
  MatMulCall(const CublasLtApi* api, cublasLtHandle_t handle, const LibraryKernels* kernels, CublasLtProduct product)
      : api_(api),
        handle_(handle),
        kernels_(kernels),
        product_(std::move(product)),
        epilogue_(product_.epilogue),
        desc_(api->cublasLtMatmulDescDestroy),
        by_addresses_(api),
        by_strides_(api) {}

  absl::Status Init(bool tf32, int candidates) {
    tf32_ = tf32;
    if (!epilogue_.empty()) {
      const absl::Status fused = FindForms(candidates);
      if (fused.ok()) return fused;
      TD_LOG(WARNING) << product_.text << ": " << fused.message()
                      << "; kernels of our own compute the epilogue behind the product";
      SetUnfused();
    }
    return FindForms(candidates);
  }

  // Selects the algorithm that a candidate's name describes.
  absl::Status InitNamed(bool tf32, absl::string_view name) {
    tf32_ = tf32;
    if (absl::ConsumePrefix(&name, kUnfused)) SetUnfused();
    Form& form = absl::ConsumePrefix(&name, kAddresses) ? by_addresses_ : by_strides_;
    cublasLtMatmulHeuristicResult_t result = {};
    cublasLtMatmulAlgo_t& algo = result.algo;
    if (name.size() != 2 * sizeof algo.data || !absl::c_all_of(name, absl::ascii_isxdigit)) {
      return absl::NotFoundError("its name is none of cuBLASLt's");
    }
    const std::string bytes = absl::HexStringToBytes(name);
    std::memcpy(algo.data, bytes.data(), sizeof algo.data);
    TD_RETURN_IF_ERROR(Describe());
    TD_RETURN_IF_ERROR(&form == &by_addresses_ ? MakeAddressLayouts() : MakeLayouts(form));
    cublasLtMatmulHeuristicResult_t checked = {};
    const cublasStatus_t status =
        api_->cublasLtMatmulAlgoCheck(handle_, desc_.get(), form.first.get(), form.second.get(), form.result.get(),
                                      form.result.get(), &algo, &checked);
    if (status != cublaslt::kSuccess || checked.workspaceSize > kCublasLtWorkspace) {
      return absl::NotFoundError(absl::StrCat("cuBLASLt does not take it: ", api_->cublasLtGetStatusName(status)));
    }
    result.workspaceSize = checked.workspaceSize;
    algorithms_.push_back({&form, result});
    return absl::OkStatus();
  }

  uint64_t workspace_bytes() const override {
    return AddressesOffset() + (algorithms_[selected_].form->addresses ? MatrixAddressesBytes(Products()) : 0);
  }
  const std::string& implementation() const override { return implementation_; }
  int candidates() const override { return static_cast<int>(algorithms_.size()); }
  void Select(int candidate) override { selected_ = candidate; }
  std::string CandidateName(int candidate) const override {
    const cublasLtMatmulAlgo_t& algo = algorithms_[candidate].found.algo;
    const absl::string_view bytes(reinterpret_cast<const char*>(algo.data), sizeof algo.data);
    return absl::StrCat(unfused_ ? kUnfused : "", algorithms_[candidate].form->addresses ? kAddresses : "",
                        absl::BytesToHexString(bytes));
  }

  absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs,
                       CUdeviceptr workspace, CUstream stream) override {
    const size_t more_inputs = epilogue_.bias + epilogue_.gradient;
    const size_t more_outputs = epilogue_.saves + SumsUp();
    if (inputs.size() != 2 + more_inputs || outputs.size() != 1 + more_outputs) {
      return absl::InternalError("a matrix product got another number of operands than it was prepared for");
    }
    if (!unfused_) TD_RETURN_IF_ERROR(PointEpilogue(inputs, outputs));
    TD_RETURN_IF_ERROR(EnqueueProducts(inputs, outputs[0], workspace, stream));
    return unfused_ ? ApplyEpilogue(inputs, outputs, workspace, stream) : absl::OkStatus();
  }

 private:
  static constexpr char kUnfused[] = "unfused:", kAddresses[] = "addresses:";

  void SetUnfused() {
    unfused_ = true;
    implementation_ = "cuBLASLt + kernels";
  }

  absl::Status Describe() {
    const bool rounds = tf32_ && product_.second.type == DType::kFloat32;
    const int compute = rounds ? cublaslt::kCompute32FFastTf32 : cublaslt::kCompute32F;
    TD_RETURN_IF_ERROR(
        Check(api_->cublasLtMatmulDescCreate(desc_.out(), compute, cublaslt::kFloat32), "describe a product"));
    TD_RETURN_IF_ERROR(
        SetDesc(cublaslt::kDescTransA, product_.first.transpose ? cublaslt::kOperationT : cublaslt::kOperationN));
    TD_RETURN_IF_ERROR(
        SetDesc(cublaslt::kDescTransB, product_.second.transpose ? cublaslt::kOperationT : cublaslt::kOperationN));
    TD_RETURN_IF_ERROR(SetDesc(cublaslt::kDescEpilogue, unfused_ ? cublaslt::kEpilogueDefault : EpilogueOf(epilogue_)));
    if (unfused_) return absl::OkStatus();
    // The pointers are placeholders, because the heuristic only reads their alignments.
    if (UsesBiasPointer()) TD_RETURN_IF_ERROR(SetBias(256));
    if (epilogue_.saves || epilogue_.gradient) {
      TD_RETURN_IF_ERROR(SetAux(256));
      // The leading dimension is in elements. An element of a mask is a bit.
      const int64_t row = product_.result.rows;
      TD_RETURN_IF_ERROR(SetDesc(cublaslt::kDescAuxLeadingDimension, epilogue_.relu() ? MaskRowBytes() * 8 : row));
    }
    return absl::OkStatus();
  }

  // Finds algorithms in all forms. A form that fails, with whatever status, is ignored as long as there are others.
  absl::Status FindForms(int candidates) {
    TD_RETURN_IF_ERROR(Describe());
    absl::Status refused;
    auto find = [&](absl::Status status) {
      if (refused.ok()) refused = std::move(status);
    };
    if (product_.launches >= kAddressesFromLaunches) find(FindByAddresses(candidates));
    // The form by strides is used if the library does not support arrays of addresses, and to measure the arrays
    // against it.
    if (algorithms_.empty() || candidates > 1) find(FindByStrides(candidates));
    if (!algorithms_.empty()) return absl::OkStatus();
    if (!refused.ok()) return refused;
    return absl::UnimplementedError(absl::StrCat("cuBLASLt cannot compute ", product_.text, " on this GPU"));
  }

  // Sets the addresses of the epilogue's operands.
  absl::Status PointEpilogue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs) {
    if (epilogue_.gradient) TD_RETURN_IF_ERROR(SetAux(inputs.back()));
    if (epilogue_.saves) TD_RETURN_IF_ERROR(SetAux(outputs[1]));
    if (SumsUp()) TD_RETURN_IF_ERROR(SetBias(outputs.back()));
    return epilogue_.bias ? SetBias(inputs[2]) : absl::OkStatus();
  }

  absl::Status EnqueueProducts(absl::Span<const CUdeviceptr> inputs, CUdeviceptr output, CUdeviceptr workspace,
                               CUstream stream) const {
    const Form& form = *algorithms_[selected_].form;
    if (form.addresses) return EnqueueByAddresses(form, inputs, output, workspace, stream);
    const int64_t in_bytes = ElementBytes(product_.second.type), out_bytes = ElementBytes(product_.result.type);
    for (int64_t i = 0; i < product_.launches; ++i) {
      TD_RETURN_IF_ERROR(Multiply(form, inputs[1] + i * product_.first.launch_stride * in_bytes,
                                  inputs[0] + i * product_.second.launch_stride * in_bytes,
                                  output + i * product_.result.launch_stride * out_bytes, workspace, stream));
    }
    return absl::OkStatus();
  }

  // Runs, as separate kernels on the finished product, the epilogue that cuBLASLt rejected.
  absl::Status ApplyEpilogue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs,
                             CUdeviceptr workspace, CUstream stream) const {
    auto matrix = [](CUdeviceptr data, const CublasLtMatrix& m) {
      return LibraryKernels::Matrix{data, m.type, m.columns, m.rows};
    };
    const LibraryKernels::Matrix y = matrix(outputs[0], product_.result);
    if (epilogue_.bias) {
      const CUdeviceptr bias = WidensBias() ? workspace + BiasOffset() : inputs[2];
      if (WidensBias()) {
        TD_RETURN_IF_ERROR(kernels_->Convert(inputs[2], y.type, bias, DType::kFloat32, y.columns, stream));
      }
      TD_RETURN_IF_ERROR(kernels_->AddBias(y, bias, stream));
    }
    if (epilogue_.gradient) {
      TD_RETURN_IF_ERROR(epilogue_.relu() ? kernels_->ReluGradient(y, inputs.back(), MaskRowBytes(), stream)
                                          : kernels_->GeluGradient(y, inputs.back(), stream));
    } else if (epilogue_.relu()) {
      TD_RETURN_IF_ERROR(epilogue_.saves ? kernels_->ReluWithMask(y, outputs[1], MaskRowBytes(), stream)
                                         : kernels_->Relu(y, stream));
    } else if (epilogue_.gelu()) {
      if (epilogue_.saves) {
        TD_RETURN_IF_ERROR(kernels_->Convert(y.data, y.type, outputs[1], y.type, y.rows * y.columns, stream));
      }
      TD_RETURN_IF_ERROR(kernels_->Gelu(y, stream));
    }
    switch (epilogue_.sums) {
      case format::Summed::kNone:
        return absl::OkStatus();
      case format::Summed::kY:
        return kernels_->ColumnSums(y, outputs.back(), stream);
      case format::Summed::kA:
        return kernels_->ColumnSums(matrix(inputs[0], product_.second), outputs.back(), stream);
      case format::Summed::kB:
        return kernels_->ColumnSums(matrix(inputs[1], product_.first), outputs.back(), stream);
    }
    return absl::OkStatus();
  }

  static void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
  absl::Status Check(cublasStatus_t status, const char* what) const { return CublasLtStatus(*api_, status, what); }

  bool SumsUp() const { return epilogue_.sums != format::Summed::kNone; }
  // A sum, which is the gradient of a bias, is written to where a bias would be read.
  bool UsesBiasPointer() const { return epilogue_.bias || SumsUp(); }
  int64_t MaskRowBytes() const { return ReluMaskShape({product_.result.rows}).back(); }
  // True if the bias must be converted to float32 first. The call's bias has the result's type, as cuBLASLt's own
  // epilogue requires; the kernel that runs after an unfused product requires float32.
  bool WidensBias() const { return unfused_ && epilogue_.bias && product_.result.type == DType::kBFloat16; }
  int64_t Products() const { return product_.batch * product_.launches; }
  // In the workspace, the converted bias lies behind the algorithm's part, and the matrices' addresses lie behind the
  // bias.
  uint64_t BiasOffset() const { return (algorithms_[selected_].found.workspaceSize + 255) / 256 * 256; }

  uint64_t AddressesOffset() const {
    return BiasOffset() + (WidensBias() ? (product_.result.rows * 4 + 255) / 256 * 256 : 0);
  }

  template <typename T>
  absl::Status SetDesc(int attribute, T value) {
    return Check(api_->cublasLtMatmulDescSetAttribute(desc_.get(), attribute, &value, sizeof value),
                 "describe a product");
  }
  absl::Status SetAux(CUdeviceptr address) { return SetDesc(cublaslt::kDescAuxPointer, Pointer(address)); }
  absl::Status SetBias(CUdeviceptr address) { return SetDesc(cublaslt::kDescBiasPointer, Pointer(address)); }

  absl::Status Multiply(const Form& form, CUdeviceptr first, CUdeviceptr second, CUdeviceptr result,
                        CUdeviceptr workspace, CUstream stream) const {
    const cublasLtMatmulHeuristicResult_t& algorithm = algorithms_[selected_].found;
    const float one = 1, zero = 0;
    return Check(api_->cublasLtMatmul(
                     handle_, desc_.get(), &one, Pointer(first), form.first.get(), Pointer(second), form.second.get(),
                     &zero, Pointer(result), form.result.get(), Pointer(result), form.result.get(), &algorithm.algo,
                     algorithm.workspaceSize > 0 ? Pointer(workspace) : nullptr, algorithm.workspaceSize, stream),
                 "multiply");
  }

  absl::Status EnqueueByAddresses(const Form& form, absl::Span<const CUdeviceptr> inputs, CUdeviceptr output,
                                  CUdeviceptr workspace, CUstream stream) const {
    const int64_t in_bytes = ElementBytes(product_.second.type), out_bytes = ElementBytes(product_.result.type);
    auto grid = [](CUdeviceptr base, const CublasLtMatrix& m, int64_t bytes) {
      return LibraryKernels::MatrixGrid{base, static_cast<uint64_t>(m.batch_stride * bytes),
                                        static_cast<uint64_t>(m.launch_stride * bytes)};
    };
    const CUdeviceptr addresses = workspace + AddressesOffset();
    TD_RETURN_IF_ERROR(kernels_->MatrixAddresses(
        addresses,
        {grid(inputs[1], product_.first, in_bytes), grid(inputs[0], product_.second, in_bytes),
         grid(output, product_.result, out_bytes)},
        product_.batch, product_.launches, stream));
    auto extent = [&](const CublasLtMatrix& m) {
      return (product_.batch - 1) * m.batch_stride + (product_.launches - 1) * m.launch_stride +
             (m.columns - 1) * m.leading_dimension + m.rows;
    };
    DeclareAccesses({{inputs[1], static_cast<uint64_t>(extent(product_.first) * in_bytes), false},
                     {inputs[0], static_cast<uint64_t>(extent(product_.second) * in_bytes), false},
                     {output, static_cast<uint64_t>(extent(product_.result) * out_bytes), true}});
    const uint64_t bytes = Products() * sizeof(CUdeviceptr);
    return Multiply(form, addresses, addresses + bytes, addresses + 2 * bytes, workspace, stream);
  }

  absl::Status MakeLayout(const CublasLtMatrix& m, const Form& form, Owned<cublasLtMatrixLayout_t>& layout) {
    TD_RETURN_IF_ERROR(
        Check(api_->cublasLtMatrixLayoutCreate(layout.out(), CudaType(m.type), m.rows, m.columns, m.leading_dimension),
              "describe a matrix"));
    const int32_t batch = static_cast<int32_t>(form.addresses ? Products() : product_.batch);
    if (batch == 1) return absl::OkStatus();
    TD_RETURN_IF_ERROR(
        Check(api_->cublasLtMatrixLayoutSetAttribute(layout.get(), cublaslt::kLayoutBatchCount, &batch, sizeof batch),
              "describe a batch"));
    if (form.addresses) return absl::OkStatus();
    return Check(api_->cublasLtMatrixLayoutSetAttribute(layout.get(), cublaslt::kLayoutStridedBatchOffset,
                                                        &m.batch_stride, sizeof m.batch_stride),
                 "describe a batch");
  }

  absl::Status MakeLayouts(Form& form) {
    TD_RETURN_IF_ERROR(MakeLayout(product_.first, form, form.first));
    TD_RETURN_IF_ERROR(MakeLayout(product_.second, form, form.second));
    return MakeLayout(product_.result, form, form.result);
  }

  // Returns NotFound where the library does not support arrays of addresses (before 12.9).
  absl::Status MakeAddressLayouts() {
    by_addresses_.addresses = true;
    TD_RETURN_IF_ERROR(MakeLayouts(by_addresses_));
    for (auto* layout : {&by_addresses_.first, &by_addresses_.second, &by_addresses_.result}) {
      const uint32_t mode = cublaslt::kBatchModePointerArray;
      const cublasStatus_t status =
          api_->cublasLtMatrixLayoutSetAttribute(layout->get(), cublaslt::kLayoutBatchMode, &mode, sizeof mode);
      if (status == cublaslt::kInvalidValue || status == cublaslt::kNotSupported) {
        return absl::NotFoundError("this cuBLASLt knows no arrays of addresses");
      }
      TD_RETURN_IF_ERROR(Check(status, "describe a batch"));
    }
    return absl::OkStatus();
  }

  absl::Status FindByAddresses(int candidates) {
    const absl::Status made = MakeAddressLayouts();
    if (absl::IsNotFound(made)) return absl::OkStatus();  // the library has no arrays of addresses, which is no error
    TD_RETURN_IF_ERROR(made);
    return FindAlgorithms(by_addresses_, candidates);
  }

  absl::Status FindByStrides(int candidates) {
    TD_RETURN_IF_ERROR(MakeLayouts(by_strides_));
    return FindAlgorithms(by_strides_, candidates);
  }

  // Returns the alignment that an operand has at the start of every launch, or of every matrix if each has its own
  // address. The operand itself is aligned.
  uint32_t Alignment(const CublasLtMatrix& m, const Form& form) const {
    int64_t bytes = kOperandAlignment;
    if (product_.launches > 1) bytes = std::gcd(bytes, m.launch_stride * ElementBytes(m.type));
    if (form.addresses) bytes = std::gcd(bytes, m.batch_stride * ElementBytes(m.type));
    return static_cast<uint32_t>(bytes);
  }

  absl::Status FindAlgorithms(const Form& form, int candidates) {
    Owned<cublasLtMatmulPreference_t> preference(api_->cublasLtMatmulPreferenceDestroy);
    TD_RETURN_IF_ERROR(Check(api_->cublasLtMatmulPreferenceCreate(preference.out()), "state preferences"));
    auto set = [&](int attribute, auto value) {
      return Check(api_->cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
                   "state preferences");
    };
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMaxWorkspaceBytes, kCublasLtWorkspace));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefReductionSchemeMask, cublaslt::kReductionComputeType));
    const uint32_t result = Alignment(product_.result, form);
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentA, Alignment(product_.first, form)));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentB, Alignment(product_.second, form)));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentC, result));
    TD_RETURN_IF_ERROR(set(cublaslt::kPrefMinAlignmentD, result));
    std::vector<cublasLtMatmulHeuristicResult_t> results(std::max(candidates, 1));
    int found = 0;
    const cublasStatus_t status = api_->cublasLtMatmulAlgoGetHeuristic(
        handle_, desc_.get(), form.first.get(), form.second.get(), form.result.get(), form.result.get(),
        preference.get(), static_cast<int>(results.size()), results.data(), &found);
    if (status != cublaslt::kNotSupported) TD_RETURN_IF_ERROR(Check(status, "choose an algorithm"));
    for (int i = 0; i < found; ++i) {
      if (results[i].state == cublaslt::kSuccess) algorithms_.push_back({&form, results[i]});
    }
    return absl::OkStatus();
  }

  struct Algorithm {
    const Form* form;
    cublasLtMatmulHeuristicResult_t found;
  };

  const CublasLtApi* api_;
  cublasLtHandle_t handle_;
  const LibraryKernels* kernels_;
  CublasLtProduct product_;
  format::Epilogue epilogue_;
  Owned<cublasLtMatmulDesc_t> desc_;
  Form by_addresses_, by_strides_;
  std::vector<Algorithm> algorithms_;  // algorithms with arrays of addresses come first
  int selected_ = 0;
  bool tf32_ = false;
  bool unfused_ = false;  // true if kernels compute the epilogue after the product
  std::string implementation_ = "cuBLASLt";
};

}  // namespace

absl::StatusOr<std::unique_ptr<CublasLtDevice>> CublasLtDevice::Create(const CublasLtApi* api) {
  cublasLtHandle_t handle = nullptr;
  TD_RETURN_IF_ERROR(CublasLtStatus(*api, api->cublasLtCreate(&handle), "start on this GPU"));
  return std::unique_ptr<CublasLtDevice>(new CublasLtDevice(api, handle));
}

CublasLtDevice::~CublasLtDevice() { api_->cublasLtDestroy(handle_); }

absl::StatusOr<std::unique_ptr<TunableCall>> CublasLtDevice::Prepare(CublasLtProduct product, bool tf32,
                                                                     const LibraryKernels* kernels, int candidates) {
  auto prepared = std::make_unique<MatMulCall>(api_, handle_, kernels, std::move(product));
  TD_RETURN_IF_ERROR(prepared->Init(tf32, candidates));
  return prepared;
}

absl::StatusOr<std::unique_ptr<TunableCall>> CublasLtDevice::PrepareNamed(CublasLtProduct product, bool tf32,
                                                                          const LibraryKernels* kernels,
                                                                          const std::string& name) {
  auto prepared = std::make_unique<MatMulCall>(api_, handle_, kernels, std::move(product));
  TD_RETURN_IF_ERROR(prepared->InitNamed(tf32, name));
  return prepared;
}

}  // namespace tandem
