// One call of a library of kernels: a convolution, a matrix product, a packing of weights.
#include <algorithm>

#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kinds.h"
#include "runtime/commands/library_flops.h"
#include "runtime/library_algorithm.h"
#include "runtime/library_call.h"

namespace tandem {
namespace {

class LibraryCall final : public Command {
 public:
  explicit LibraryCall(const fb::StepT& step) : Command(step), call_(*step.body.AsLibraryCall()) {}

  bool is_library_call() const override { return true; }

  absl::Status Verify(const CommandVerifier& v, const std::string& field, fb::SectionKind section) const override {
    const absl::StatusOr<LibraryOperands> operands = CheckLibraryCall(call_);
    if (!operands.ok()) return v.Bad(field, operands.status().message());
    if (v.gpu() && call_.algorithm != fb::Algorithm::Library) return v.Bad(field, "this algorithm is for CPUs");
    if (absl::Status s = CheckAlgorithm(call_); !v.gpu() && !s.ok()) return v.Bad(field, s.message());
    if (!v.gpu() && !call_.epilogue.is_forward()) return v.Bad(field, "this epilogue is for GPUs");
    if (section == fb::SectionKind::Global) TD_RETURN_IF_ERROR(v.ReadsNoSlots(field, step().inputs));
    if (step().inputs.size() != operands->inputs.size() || step().outputs.size() != operands->outputs.size()) {
      return v.Bad(field, "wrong number of inputs or outputs");
    }
    if (call_.epilogue.residual) TD_RETURN_IF_ERROR(VerifyResidual(v, field, section));
    for (size_t i = 0; i < step().inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(VerifyOperand(v, absl::StrCat(field, ".inputs[", i, "]"), step().inputs[i],
                                       operands->inputs[i], operands->input_types[i]));
    }
    for (size_t i = 0; i < step().outputs.size(); ++i) {
      TD_RETURN_IF_ERROR(VerifyOperand(v, absl::StrCat(field, ".outputs[", i, "]"), step().outputs[i],
                                       operands->outputs[i], operands->output_types[i]));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyForGpu(const GpuCommandVerifier& v, const std::string& field) const override {
    const bool packs = call_.primitive == fb::Primitive::PackWeights;
    if (packs || call_.packed) TD_RETURN_IF_ERROR(VerifyPacked(v, field, packs ? step().outputs[0] : step().inputs[1]));
    TD_RETURN_IF_ERROR(v.CheckWorkspace(field, "a library call", call_.workspace_bytes));
    if (call_.plan == 0) return absl::OkStatus();
    return v.CheckSegment(field + ".plan", call_.plan - 1, fb::SegmentKind::CudnnPlan);
  }

  bool has_plain_outputs() const override { return call_.primitive != fb::Primitive::PackWeights; }
  uint64_t WorkspaceBytes(const WorkContext&) const override { return call_.workspace_bytes; }

  std::string Summary(const fb::ExecutableT& index) const override {
    const std::string text = Detail(index);
    return call_.epilogue.empty() ? text : absl::StrCat(text, " + ", call_.epilogue.Text());
  }
  std::string Detail(const fb::ExecutableT&) const override {
    return absl::StrCat(fb::EnumNamePrimitive(call_.primitive), " ", call_.implementation);
  }
  std::vector<CommandProperty> Properties(const fb::ExecutableT&) const override {
    return {{"primitive", fb::EnumNamePrimitive(call_.primitive)},
            {"algorithm", fb::EnumNameAlgorithm(call_.algorithm)},
            {"epilogue", call_.epilogue.Text()},
            {"packed", call_.packed},
            {"implementation", call_.implementation}};
  }

 protected:
  void AddFlops(const WorkContext& context, bool batched, ExecutionWork& work) const override {
    const double flops = LibraryFlops(call_);
    if (batched) {
      work.flops_per_row = flops / std::max<double>(context.index.shard_rows, 1);
    } else {
      work.flops = flops;
    }
  }

 private:
  // Rows beyond those that are there may be written in the shard arena only.
  absl::Status VerifyResidual(const CommandVerifier& v, const std::string& field, fb::SectionKind section) const {
    if (v.gpu() || section != fb::SectionKind::Map) return v.Bad(field, "only a CPU's map section adds a residual");
    const uint32_t residual = step().inputs.back();
    const fb::BufferT& b = v.Buffer(residual);
    if (step().outputs[0] == residual && b.space == fb::Space::Shard && b.row_bytes > 0) return absl::OkStatus();
    return v.Bad(field, "the residual must be batched, in the shard arena, and the output");
  }

  static absl::Status VerifyOperand(const CommandVerifier& v, const std::string& field, uint32_t buffer,
                                    const std::vector<int64_t>& shape, fb::DType type) {
    const fb::BufferT& b = v.Buffer(buffer);
    if (shape.empty()) return b.row_bytes == 0 ? absl::OkStatus() : v.Bad(field, "packed weights cannot be batched");
    if (b.dtype != type) return v.Bad(field, "the call needs ", Name(static_cast<DType>(type)));
    const int64_t elements = CheckedElements(shape), rows = v.index().shard_rows;
    if (b.row_bytes == 0) {
      return elements == v.Elements(buffer) ? absl::OkStatus() : v.Bad(field, "the call needs ", ShapeString(shape));
    }
    if (shape[0] == rows && elements == v.Elements(buffer) * rows) return absl::OkStatus();
    return v.Bad(field, "the call needs ", ShapeString(shape), ", not the rows of a shard");
  }

  // A packed kernel has the elements of the plain one.
  absl::Status VerifyPacked(const GpuCommandVerifier& v, const std::string& field, uint32_t buffer) const {
    const uint64_t bytes = static_cast<uint64_t>(CheckedElements(call_.kernel_shape)) *
                           SizeOf(static_cast<DType>(LibraryType(call_.kernel_dtype)));
    const uint64_t given = v.Buffer(buffer).bytes;
    return given >= bytes ? absl::OkStatus() : v.Bad(field, "packed weights need ", bytes, " bytes, not ", given);
  }

  const fb::LibraryCallT& call_;
};

double Product(const std::vector<int64_t>& sizes) {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

}  // namespace

double LibraryFlops(const fb::LibraryCallT& call) {
  switch (call.primitive) {
    case fb::Primitive::PackWeights:
      return 0;
    case fb::Primitive::Conv2D:
    case fb::Primitive::Conv2DInputGrad:
    case fb::Primitive::Conv2DFilterGrad:
      // Each output of the forward convolution meets every weight of its channel once, in all three directions.
      return call.kernel_shape.empty() ? 0
                                       : 2 * Product(call.y_shape) * Product(call.kernel_shape) /
                                             static_cast<double>(call.kernel_shape.back());
    default:
      // Matrix products: each element of the left side meets a row of the right one, transposed, batched or not.
      return call.y_shape.empty() ? 0 : 2 * Product(call.x_shape) * static_cast<double>(call.y_shape.back());
  }
}

std::unique_ptr<Command> NewLibraryCall(const fb::StepT& step) { return std::make_unique<LibraryCall>(step); }

}  // namespace tandem
