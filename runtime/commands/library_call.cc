// The command LibraryCall: calls a kernel library for a convolution, a matrix product or a packing of weights.
#include <algorithm>

#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kinds.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_algorithm.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {
namespace {

class LibraryCall final : public Command {
 public:
  explicit LibraryCall(const format::Command& table)
      : Command(table), call_(*table.body.As<format::LibraryCall>()), info_(InfoOf(call_)) {}

  bool is_library_call() const override { return true; }

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    const absl::StatusOr<LibraryOperands> operands = v.gpu() ? CheckGpuLibraryCall(call_) : CheckLibraryCall(call_);
    if (!operands.ok()) return v.Bad(field, operands.status().message());
    if (v.gpu() && call_.algorithm != format::Algorithm::kLibrary) return v.Bad(field, "this algorithm is for CPUs");
    if (absl::Status s = CheckAlgorithm(call_); !v.gpu() && !s.ok()) return v.Bad(field, s.message());
    if (!v.gpu() && !info_.epilogue.is_forward()) return v.Bad(field, "this epilogue is for GPUs");
    if (section == format::SectionKind::kGlobal) TD_RETURN_IF_ERROR(v.ReadsNoSlots(field, table().inputs));
    if (table().inputs.size() != operands->inputs.size() || table().outputs.size() != operands->outputs.size()) {
      return v.Bad(field, "wrong number of inputs or outputs");
    }
    if (info_.epilogue.residual) TD_RETURN_IF_ERROR(VerifyResidual(v, field, section));
    for (size_t i = 0; i < table().inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(VerifyOperand(v, absl::StrCat(field, ".inputs[", i, "]"), table().inputs[i],
                                       operands->inputs[i], operands->input_types[i]));
    }
    for (size_t i = 0; i < table().outputs.size(); ++i) {
      TD_RETURN_IF_ERROR(VerifyOperand(v, absl::StrCat(field, ".outputs[", i, "]"), table().outputs[i],
                                       operands->outputs[i], operands->output_types[i]));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyForGpu(const GpuCommandVerifier& v, const std::string& field) const override {
    if (info_.packed) TD_RETURN_IF_ERROR(VerifyPacked(v, field, packs() ? table().outputs[0] : table().inputs[1]));
    TD_RETURN_IF_ERROR(v.CheckWorkspace(field, "a library call", call_.workspace_bytes));
    if (call_.plan == 0) return absl::OkStatus();
    return v.CheckSegment(field + ".plan", call_.plan - 1, format::SegmentKind::kCudnnPlan);
  }

  bool has_plain_outputs() const override { return !packs(); }
  int64_t GpuLaunches(const WorkContext&) const override { return GpuLaunchesOf(call_); }
  uint64_t WorkspaceBytes(const WorkContext&) const override { return call_.workspace_bytes; }

  std::string Summary(const format::Index& index) const override {
    const std::string text = Detail(index);
    return info_.epilogue.empty() ? text : absl::StrCat(text, " + ", info_.epilogue.Text());
  }
  std::string Detail(const format::Index&) const override {
    return absl::StrCat(info_.name, " ", call_.implementation);
  }
  std::vector<CommandProperty> Properties(const format::Index&) const override {
    return {{"primitive", info_.name},
            {"algorithm", format::Name(call_.algorithm)},
            {"epilogue", info_.epilogue.Text()},
            {"packed", info_.packed},
            {"implementation", call_.implementation}};
  }

 protected:
  void AddFlops(const WorkContext& context, bool batched, ExecutionWork& work) const override {
    if (batched) {
      work.flops_per_row = info_.flops / std::max<double>(context.index.microbatch_rows, 1);
    } else {
      work.flops = info_.flops;
    }
  }

 private:
  bool packs() const { return call_.operation.As<format::PackWeights>() != nullptr; }

  // Checks that the residual is in the microbatch arena. A call writes the rows of a full microbatch even if the last
  // one is short, and only in that arena may the rows beyond the last real one be overwritten.
  absl::Status VerifyResidual(const CommandVerifier& v, const std::string& field, format::SectionKind section) const {
    if (v.gpu() || section != format::SectionKind::kMap)
      return v.Bad(field, "only a CPU's map section adds a residual");
    const uint32_t residual = table().inputs.back();
    const format::Buffer& b = v.Buffer(residual);
    if (table().outputs[0] == residual && b.space == format::Space::kMicrobatch && b.row_bytes > 0)
      return absl::OkStatus();
    return v.Bad(field, "the residual must be batched, in the microbatch arena, and the output");
  }

  static absl::Status VerifyOperand(const CommandVerifier& v, const std::string& field, uint32_t buffer,
                                    const std::vector<int64_t>& shape, DType type) {
    const format::Buffer& b = v.Buffer(buffer);
    if (shape.empty()) return b.row_bytes == 0 ? absl::OkStatus() : v.Bad(field, "packed weights cannot be batched");
    if (b.dtype != type) return v.Bad(field, "the call needs ", Name(type));
    const int64_t elements = CheckedElements(shape), rows = v.index().microbatch_rows;
    if (b.row_bytes == 0) {
      return elements == v.Elements(buffer) ? absl::OkStatus() : v.Bad(field, "the call needs ", ShapeString(shape));
    }
    if (shape[0] == rows && elements == v.Elements(buffer) * rows) return absl::OkStatus();
    return v.Bad(field, "the call needs ", ShapeString(shape), ", not the rows of a microbatch");
  }

  // Checks that packed weights (in the library's layout) have room for all elements of the plain weights.
  absl::Status VerifyPacked(const GpuCommandVerifier& v, const std::string& field, uint32_t buffer) const {
    const uint64_t bytes = static_cast<uint64_t>(CheckedElements(info_.weights_shape)) * SizeOf(info_.weights_dtype);
    const uint64_t given = v.Buffer(buffer).bytes;
    return given >= bytes ? absl::OkStatus() : v.Bad(field, "packed weights need ", bytes, " bytes, not ", given);
  }

  const format::LibraryCall& call_;
  const OperationInfo info_;
};

}  // namespace

std::unique_ptr<Command> NewLibraryCall(const format::Command& table) { return std::make_unique<LibraryCall>(table); }

}  // namespace tandem
