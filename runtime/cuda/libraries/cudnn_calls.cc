#include "runtime/cuda/libraries/cudnn_calls.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/align.h"
#include "base/dtype.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

using format::Direction;

// Who computes a call's epilogue: cuDNN's plans, or Tandem's own kernels after them.
enum class EpilogueBy { kPlan, kKernels };

class ConvolutionCall : public TunableCall {
 public:
  // `plans` are those of PlannedConvolution(call).
  ConvolutionCall(const format::LibraryCall& call, EpilogueBy by, std::vector<std::unique_ptr<CudnnLoadedPlan>> plans,
                  const LibraryKernels* kernels)
      : ConvolutionCall(*call.operation.As<format::Conv2D>(), *PlannedConvolution(call).operation.As<format::Conv2D>(),
                        by, std::move(plans), kernels) {}
  ConvolutionCall(const format::Conv2D& conv, const format::Conv2D& planned, EpilogueBy by,
                  std::vector<std::unique_ptr<CudnnLoadedPlan>> plans, const LibraryKernels* kernels)
      : direction_(conv.direction),
        packed_(conv.packed),
        has_bias_(conv.epilogue.bias),
        has_relu_(conv.epilogue.relu()),
        unfused_(by == EpilogueBy::kKernels),
        plans_(std::move(plans)),
        kernels_(kernels),
        operand_(OperandType(conv)),
        result_(ResultType(conv)),
        kernel_shape_(conv.kernel_shape),
        planned_shape_(planned.kernel_shape),
        part_(PartOfKernel(conv)),
        output_channels_(conv.kernel_shape[3]),
        kernel_rows_(RowsOf(planned.kernel_shape)),
        result_elements_(NumElements(direction_ == Direction::kInputGrad ? conv.x_shape : conv.y_shape)) {
    Select(0);
  }

  uint64_t workspace_bytes() const override {
    const uint64_t element = WidensBias() ? sizeof(float) : ElementBytes();
    return bias_at_ + (NarrowBias() || ZeroBias() || WidensBias() ? AlignUp(output_channels_ * element, 256) : 0);
  }
  const std::string& implementation() const override { return implementation_; }
  int candidates() const override { return static_cast<int>(plans_.size()); }
  void Select(int candidate) override {
    selected_ = candidate;
    implementation_ = absl::StrCat("cuDNN ", CandidateName(selected_));
    kernel_at_ = AlignUp(plans_[selected_]->workspace_bytes(), 256);
    const bool moves_kernel = direction_ == Direction::kFilterGrad || !packed_;
    const int64_t kernel_elements = kernel_rows_ * output_channels_;
    result_at_ = kernel_at_ + (moves_kernel ? AlignUp(kernel_elements * ElementBytes(), 256) : 0);
    bias_at_ = result_at_ + (WidensResult() ? AlignUp(result_elements_ * ElementBytes(), 256)
                             : IsPart()     ? AlignUp(kernel_elements * SizeOf(result_), 256)
                                            : 0);
  }
  std::string CandidateName(int candidate) const override {
    return absl::StrCat(unfused_ ? kUnfusedPlan : "", plans_[candidate]->name());
  }

  absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs,
                       CUdeviceptr workspace, CUstream stream) override {
    if (inputs.size() != (has_bias_ ? 3 : 2) || outputs.size() != 1) {
      return absl::InternalError("a convolution got another number of operands than it was prepared for");
    }
    const CUdeviceptr kernel = workspace + kernel_at_;
    if (direction_ == Direction::kFilterGrad) {
      TD_RETURN_IF_ERROR(plans_[selected_]->Enqueue({inputs[0], kernel, inputs[1], 0}, workspace, stream));
      const CUdeviceptr whole = IsPart() ? workspace + result_at_ : outputs[0];
      TD_RETURN_IF_ERROR(kernels_->Transpose(kernel, operand_, whole, result_, output_channels_, kernel_rows_, stream));
      return IsPart() ? TakePart(whole, outputs[0], stream) : absl::OkStatus();
    }
    CudnnTensors tensors;
    tensors.kernel = packed_ ? inputs[1] : kernel;
    if (!packed_) {
      TD_RETURN_IF_ERROR(
          kernels_->Transpose(inputs[1], operand_, kernel, operand_, kernel_rows_, output_channels_, stream));
    }
    if (has_bias_ && !unfused_) {
      tensors.bias = inputs[2];
      if (NarrowBias()) {
        tensors.bias = workspace + bias_at_;
        TD_RETURN_IF_ERROR(kernels_->Convert(inputs[2], result_, tensors.bias, operand_, output_channels_, stream));
      }
    }
    if (ZeroBias()) {
      tensors.bias = workspace + bias_at_;
      TD_RETURN_IF_ERROR(kernels_->Zero(tensors.bias, output_channels_ * ElementBytes(), stream));
    }
    const bool forward = direction_ == Direction::kForward;
    const CUdeviceptr result = WidensResult() ? workspace + result_at_ : outputs[0];
    (forward ? tensors.x : tensors.y) = inputs[0];
    (forward ? tensors.y : tensors.x) = result;
    TD_RETURN_IF_ERROR(plans_[selected_]->Enqueue(tensors, workspace, stream));
    if (WidensResult()) {
      TD_RETURN_IF_ERROR(kernels_->Convert(result, operand_, outputs[0], result_, result_elements_, stream));
    }
    return unfused_ ? ApplyEpilogue(inputs, outputs[0], workspace, stream) : absl::OkStatus();
  }

 private:
  // True if the plans compute the gradient of a larger kernel, of which the call's result is a part
  // (PlannedConvolution).
  bool IsPart() const { return planned_shape_ != kernel_shape_; }
  // Copies the rows of the call's kernel from the larger kernel that was planned.
  absl::Status TakePart(CUdeviceptr whole, CUdeviceptr output, CUstream stream) const {
    const uint64_t element = SizeOf(result_);
    const int64_t channels = kernel_shape_[2] * kernel_shape_[3], row = kernel_shape_[1] * channels;
    for (int64_t i = 0; i < kernel_shape_[0]; ++i) {
      const int64_t from = ((part_[0] + i) * planned_shape_[1] + part_[1]) * channels;
      TD_RETURN_IF_ERROR(
          kernels_->Convert(whole + from * element, result_, output + i * row * element, result_, row, stream));
    }
    return absl::OkStatus();
  }

  // Runs, as separate kernels on the finished result, the epilogue for which the library has no plan.
  absl::Status ApplyEpilogue(absl::Span<const CUdeviceptr> inputs, CUdeviceptr output, CUdeviceptr workspace,
                             CUstream stream) const {
    const LibraryKernels::Matrix y = {output, result_, result_elements_ / output_channels_, output_channels_};
    if (has_bias_) {
      const CUdeviceptr bias = WidensBias() ? workspace + bias_at_ : inputs[2];
      if (WidensBias()) {
        TD_RETURN_IF_ERROR(kernels_->Convert(inputs[2], result_, bias, DType::kFloat32, output_channels_, stream));
      }
      TD_RETURN_IF_ERROR(kernels_->AddBias(y, bias, stream));
    }
    return has_relu_ ? kernels_->Relu(y, stream) : absl::OkStatus();
  }

  int64_t ElementBytes() const { return SizeOf(operand_); }
  // A plan requires a bias in the operands' type, but the call's bias has the result's type.
  bool NarrowBias() const { return has_bias_ && !unfused_ && result_ != operand_; }
  // The kernel that runs after a plan requires a float32 bias.
  bool WidensBias() const { return has_bias_ && unfused_ && result_ != DType::kFloat32; }
  // Plans support relu only after a bias, so they need one of zeros.
  bool ZeroBias() const { return has_relu_ && !has_bias_ && !unfused_; }
  bool WidensResult() const { return direction_ != Direction::kFilterGrad && result_ != operand_; }

  Direction direction_;
  bool packed_, has_bias_, has_relu_, unfused_;
  std::vector<std::unique_ptr<CudnnLoadedPlan>> plans_;
  const LibraryKernels* kernels_;
  DType operand_, result_;
  std::vector<int64_t> kernel_shape_, planned_shape_;
  std::array<int64_t, 2> part_;
  int64_t output_channels_, kernel_rows_, result_elements_;
  int selected_ = 0;
  // offsets in the workspace, behind the part that the plan itself needs
  uint64_t kernel_at_ = 0, result_at_ = 0, bias_at_ = 0;
  std::string implementation_;
};

using Plans = std::vector<std::unique_ptr<CudnnLoadedPlan>>;

absl::StatusOr<Plans> FindPlans(const format::LibraryCall& call, absl::string_view plan_bytes, CudnnDevice* device,
                                int candidates) {
  if (candidates == 1 && !plan_bytes.empty()) {
    // It is no error if the plan is of another version of cuDNN or for another device: it is only used if it loads
    // here.
    if (auto plan = device->Load(call, plan_bytes); plan.ok()) {
      Plans plans;
      plans.push_back(*std::move(plan));
      return plans;
    }
  }
  return device->Build(call, candidates, kMaxPlanWorkspace);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TunableCall>> PrepareConvolution(const format::LibraryCall& call,
                                                                absl::string_view plan_bytes, CudnnDevice* device,
                                                                const LibraryKernels* kernels, int candidates) {
  const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
  absl::StatusOr<Plans> plans = FindPlans(PlannedConvolution(call), plan_bytes, device, candidates);
  EpilogueBy by = EpilogueBy::kPlan;
  if (!plans.ok() && !conv.epilogue.empty()) {
    TD_LOG(WARNING) << plans.status().message() << "; kernels of our own compute the epilogue behind the convolution";
    plans = FindPlans(WithoutEpilogue(call), plan_bytes, device, candidates);
    by = EpilogueBy::kKernels;
  }
  if (!plans.ok()) return plans.status();
  return std::make_unique<ConvolutionCall>(call, by, *std::move(plans), kernels);
}

absl::StatusOr<std::unique_ptr<TunableCall>> PrepareNamedConvolution(const format::LibraryCall& call,
                                                                     const std::string& name, CudnnDevice* device,
                                                                     const LibraryKernels* kernels) {
  absl::string_view plan = name;
  const bool unfused = absl::ConsumePrefix(&plan, kUnfusedPlan);
  const format::LibraryCall planned = unfused ? WithoutEpilogue(call) : PlannedConvolution(call);
  Plans plans(1);
  TD_ASSIGN_OR_RETURN(plans[0], device->BuildNamed(planned, std::string(plan), kMaxPlanWorkspace));
  const EpilogueBy by = unfused ? EpilogueBy::kKernels : EpilogueBy::kPlan;
  return std::make_unique<ConvolutionCall>(call, by, std::move(plans), kernels);
}

}  // namespace tandem
