#include "runtime/cuda/libraries/library_calls.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "runtime/cuda/kernels/library_kernels.h"
#include "runtime/cuda/libraries/autotune.h"
#include "runtime/cuda/libraries/cublaslt_calls.h"
#include "runtime/cuda/libraries/cudnn_calls.h"
#include "runtime/cuda/libraries/plan_choices.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/matmul.h"
#include "runtime/library_calls/pack_weights.h"

namespace tandem {
namespace {

// The most candidates that are worth measuring: the best one is among the first few that heuristics offer.
constexpr int kMaxCandidates = 8;

// A PackWeights call: it transposes HWIO to KRSC for cuDNN, and copies for cuBLASLt.
class PackCall : public PreparedCall {
 public:
  PackCall(const format::PackWeights& packing, const LibraryKernels* kernels)
      : from_(packing.plain_dtype), to_(InfoOf(packing).weights_dtype), kernels_(kernels) {
    const std::vector<int64_t> shape = InfoOf(packing).weights_shape;
    columns_ = shape.back();
    rows_ = RowsOf(shape);
    transpose_ = LibraryOf(ReaderOf(packing)) == GpuLibrary::kCudnn;
  }
  uint64_t workspace_bytes() const override { return 0; }
  const std::string& implementation() const override { return implementation_; }
  absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs, CUdeviceptr,
                       CUstream stream) override {
    if (inputs.size() != 1 || outputs.size() != 1) return absl::InternalError("packing takes one operand");
    if (transpose_) return kernels_->Transpose(inputs[0], from_, outputs[0], to_, rows_, columns_, stream);
    return kernels_->Convert(inputs[0], from_, outputs[0], to_, rows_ * columns_, stream);
  }

 private:
  DType from_, to_;
  const LibraryKernels* kernels_;
  int64_t rows_, columns_;
  bool transpose_;
  std::string implementation_ = "kernel";
};

std::vector<uint64_t> OperandBytes(const std::vector<std::vector<int64_t>>& shapes, const std::vector<DType>& types,
                                   uint64_t packed_bytes) {
  std::vector<uint64_t> bytes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    bytes.push_back(types[i] == DType::kInvalid ? packed_bytes : NumElements(shapes[i]) * SizeOf(types[i]));
  }
  return bytes;
}

class Runner : public LibraryCallRunner {
 public:
  Runner(const DriverApi* driver, Options options, std::unique_ptr<LibraryKernels> kernels)
      : driver_(driver), options_(std::move(options)), kernels_(std::move(kernels)) {}

  absl::StatusOr<std::unique_ptr<PreparedCall>> Prepare(const format::LibraryCall& call,
                                                        absl::string_view plan_bytes) override {
    TD_ASSIGN_OR_RETURN(const LibraryOperands operands, CheckGpuLibraryCall(call));
    if (const format::PackWeights* packing = call.operation.As<format::PackWeights>()) {
      return std::make_unique<PackCall>(*packing, kernels_.get());
    }
    const bool cudnn = LibraryOf(call) == GpuLibrary::kCudnn;
    TD_RETURN_IF_ERROR(cudnn ? OpenCudnn() : OpenCublasLt());
    const std::string key = PlanChoiceKey(call, options_.device_name, cudnn ? cudnn_version_ : cublaslt_version_);
    const std::string* recorded = options_.choices == nullptr ? nullptr : options_.choices->Find(key);
    if (recorded != nullptr) {
      absl::StatusOr<std::unique_ptr<TunableCall>> named =
          cudnn ? PrepareNamedConvolution(call, *recorded, cudnn_.get(), kernels_.get())
                : cublaslt_->PrepareNamed(ProductOf(call), call.tf32, kernels_.get(), *recorded);
      if (named.ok()) return named;
      // The library's version is part of the key, so this is rare. Results depend on the plan: people who keep the file
      // to get the same results must see a warning.
      TD_LOG(WARNING) << "the recorded plan \"" << *recorded << "\" for " << key << " is not offered here ("
                      << named.status().message() << "); "
                      << (options_.autotune ? "the plans are measured again" : "the library's choice stands")
                      << ", and results may differ in their last bits";
    }
    const int candidates = options_.autotune ? kMaxCandidates : 1;
    std::unique_ptr<TunableCall> prepared;
    if (cudnn) {
      TD_ASSIGN_OR_RETURN(prepared, PrepareConvolution(call, plan_bytes, cudnn_.get(), kernels_.get(), candidates));
    } else {
      TD_ASSIGN_OR_RETURN(prepared, cublaslt_->Prepare(ProductOf(call), call.tf32, kernels_.get(), candidates));
    }
    if (options_.autotune) {
      const OperationInfo info = InfoOf(call);
      const uint64_t packed_bytes = NumElements(info.weights_shape) * SizeOf(info.weights_dtype);
      TD_ASSIGN_OR_RETURN(
          const int best,
          SelectFastest(*driver_, *prepared, OperandBytes(operands.inputs, operands.input_types, packed_bytes),
                        OperandBytes(operands.outputs, operands.output_types, packed_bytes)));
      if (options_.choices != nullptr) options_.choices->Record(key, prepared->CandidateName(best));
    }
    return prepared;
  }

 private:
  static CublasLtProduct ProductOf(const format::LibraryCall& call) {
    if (const format::Conv2D* conv = call.operation.As<format::Conv2D>())
      return DescribeProduct(ConvolutionAsMatMul(*conv));
    if (const format::BatchMatMul* products = call.operation.As<format::BatchMatMul>())
      return DescribeProduct(*products);
    return DescribeProduct(*call.operation.As<format::MatMul>());
  }

  absl::Status OpenCublasLt() {
    if (cublaslt_ != nullptr) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const CublasLtApi* api, LoadCublasLt());
    TD_ASSIGN_OR_RETURN(cublaslt_, CublasLtDevice::Create(api));
    cublaslt_version_ = absl::StrCat("cuBLASLt ", api->cublasLtGetVersion());
    return absl::OkStatus();
  }

  absl::Status OpenCudnn() {
    if (cudnn_ != nullptr) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const CudnnApi* api, LoadCudnn());
    TD_ASSIGN_OR_RETURN(cudnn_, api->OpenDevice());
    cudnn_version_ = api->version();
    return absl::OkStatus();
  }

  const DriverApi* driver_;
  Options options_;
  std::unique_ptr<LibraryKernels> kernels_;
  std::unique_ptr<CublasLtDevice> cublaslt_;
  std::unique_ptr<CudnnDevice> cudnn_;
  std::string cublaslt_version_, cudnn_version_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryCallRunner>> LibraryCallRunner::Create(const DriverApi* driver, Options options) {
  TD_ASSIGN_OR_RETURN(std::unique_ptr<LibraryKernels> kernels, LibraryKernels::Create(driver));
  return std::make_unique<Runner>(driver, std::move(options), std::move(kernels));
}

}  // namespace tandem
