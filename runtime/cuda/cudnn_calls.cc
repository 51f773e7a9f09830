#include "runtime/cuda/cudnn_calls.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/library_calls/conv2d.h"
#include "runtime/library_calls/matmul.h"

namespace tandem {
namespace {

using fb::Direction;

class ConvolutionCall : public TunableCall {
 public:
  ConvolutionCall(const fb::Conv2DT& conv, std::vector<std::unique_ptr<CudnnLoadedPlan>> plans,
                  const LibraryKernels* kernels)
      : direction_(conv.direction),
        packed_(conv.packed),
        has_bias_(conv.epilogue.bias),
        zero_bias_(conv.epilogue.relu() && !conv.epilogue.bias),
        plans_(std::move(plans)),
        kernels_(kernels),
        operand_(OperandType(conv)),
        result_(ResultType(conv)),
        output_channels_(conv.kernel_shape[3]),
        kernel_rows_(RowsOf(conv.kernel_shape)),
        result_elements_(NumElements(direction_ == Direction::InputGrad ? conv.x_shape : conv.y_shape)) {
    Select(0);
  }

  uint64_t workspace_bytes() const override {
    return bias_at_ + (NarrowBias() || zero_bias_ ? AlignUp(BiasBytes(), 256) : 0);
  }
  const std::string& implementation() const override { return implementation_; }
  int candidates() const override { return static_cast<int>(plans_.size()); }
  void Select(int candidate) override {
    selected_ = candidate;
    implementation_ = absl::StrCat("cuDNN ", plans_[selected_]->name());
    kernel_at_ = AlignUp(plans_[selected_]->workspace_bytes(), 256);
    const bool moves_kernel = direction_ == Direction::FilterGrad || !packed_;
    result_at_ = kernel_at_ + (moves_kernel ? AlignUp(kernel_rows_ * output_channels_ * ElementBytes(), 256) : 0);
    bias_at_ = result_at_ + (WidensResult() ? AlignUp(result_elements_ * ElementBytes(), 256) : 0);
  }
  std::string CandidateName(int candidate) const override { return plans_[candidate]->name(); }

  absl::Status Enqueue(absl::Span<const CUdeviceptr> inputs, absl::Span<const CUdeviceptr> outputs,
                       CUdeviceptr workspace, CUstream stream) override {
    if (inputs.size() != (has_bias_ ? 3 : 2) || outputs.size() != 1) {
      return absl::InternalError("a convolution got another number of operands than it was prepared for");
    }
    const CUdeviceptr kernel = workspace + kernel_at_;
    if (direction_ == Direction::FilterGrad) {
      TD_RETURN_IF_ERROR(plans_[selected_]->Enqueue({inputs[0], kernel, inputs[1], 0}, workspace, stream));
      return kernels_->Transpose(kernel, operand_, outputs[0], result_, output_channels_, kernel_rows_, stream);
    }
    CudnnTensors tensors;
    tensors.kernel = packed_ ? inputs[1] : kernel;
    if (!packed_) {
      TD_RETURN_IF_ERROR(
          kernels_->Transpose(inputs[1], operand_, kernel, operand_, kernel_rows_, output_channels_, stream));
    }
    if (has_bias_) {
      tensors.bias = inputs[2];
      if (NarrowBias()) {
        tensors.bias = workspace + bias_at_;
        TD_RETURN_IF_ERROR(kernels_->Convert(inputs[2], result_, tensors.bias, operand_, output_channels_, stream));
      }
    }
    if (zero_bias_) {
      tensors.bias = workspace + bias_at_;
      TD_RETURN_IF_ERROR(kernels_->Zero(tensors.bias, BiasBytes(), stream));
    }
    const bool forward = direction_ == Direction::Forward;
    const CUdeviceptr result = WidensResult() ? workspace + result_at_ : outputs[0];
    (forward ? tensors.x : tensors.y) = inputs[0];
    (forward ? tensors.y : tensors.x) = result;
    TD_RETURN_IF_ERROR(plans_[selected_]->Enqueue(tensors, workspace, stream));
    if (!WidensResult()) return absl::OkStatus();
    return kernels_->Convert(result, operand_, outputs[0], result_, result_elements_, stream);
  }

 private:
  int64_t ElementBytes() const { return SizeOf(static_cast<DType>(operand_)); }
  uint64_t BiasBytes() const { return output_channels_ * ElementBytes(); }
  // cuDNN takes a bias in the operands' type only; the call's is of the result's.
  bool NarrowBias() const { return has_bias_ && result_ != operand_; }
  bool WidensResult() const { return direction_ != Direction::FilterGrad && result_ != operand_; }

  Direction direction_;
  bool packed_, has_bias_, zero_bias_;
  std::vector<std::unique_ptr<CudnnLoadedPlan>> plans_;
  const LibraryKernels* kernels_;
  fb::DType operand_, result_;
  int64_t output_channels_, kernel_rows_, result_elements_;
  int selected_ = 0;
  uint64_t kernel_at_ = 0, result_at_ = 0, bias_at_ = 0;  // in the workspace, behind the plan's own
  std::string implementation_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TunableCall>> PrepareConvolution(const fb::LibraryCallT& call,
                                                                absl::string_view plan_bytes, CudnnDevice* device,
                                                                const LibraryKernels* kernels, int candidates) {
  std::vector<std::unique_ptr<CudnnLoadedPlan>> plans;
  if (candidates == 1 && !plan_bytes.empty()) {
    // A plan of another version of cuDNN, or for another device, is no error: it saves time where it fits.
    if (auto plan = device->Load(call, plan_bytes); plan.ok()) plans.push_back(*std::move(plan));
  }
  if (plans.empty()) {
    TD_ASSIGN_OR_RETURN(plans, device->Build(call, candidates, kMaxPlanWorkspace));
  }
  return std::make_unique<ConvolutionCall>(*call.operation.AsConv2D(), std::move(plans), kernels);
}

absl::StatusOr<std::unique_ptr<TunableCall>> PrepareNamedConvolution(const fb::LibraryCallT& call,
                                                                     const std::string& name, CudnnDevice* device,
                                                                     const LibraryKernels* kernels) {
  std::vector<std::unique_ptr<CudnnLoadedPlan>> plans(1);
  TD_ASSIGN_OR_RETURN(plans[0], device->BuildNamed(call, name, kMaxPlanWorkspace));
  return std::make_unique<ConvolutionCall>(*call.operation.AsConv2D(), std::move(plans), kernels);
}

}  // namespace tandem
