// The command ScatterAdd: sums rows that have the same index, as the gradient of an embedding lookup does.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class ScatterAdd final : public Command {
 public:
  using Command::Command;

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.NeedsGlobal(field, section));
    if (table().inputs.size() != 2 || table().outputs.size() != 1) {
      return v.Bad(field, "needs updates and indices and has one output");
    }
    TD_RETURN_IF_ERROR(v.ReadsNoSlots(field, table().inputs));
    const format::Buffer &updates = v.Buffer(table().inputs[0]), &indices = v.Buffer(table().inputs[1]);
    const format::Buffer& out = v.Buffer(table().outputs[0]);
    if (updates.dtype != out.dtype || (out.dtype != DType::kFloat32 && out.dtype != DType::kFloat64)) {
      return v.Bad(field, "updates and output must be of one floating-point type");
    }
    if (indices.dtype != DType::kInt32 && indices.dtype != DType::kInt64) {
      return v.Bad(field, "indices must be int32 or int64");
    }
    if (out.row_bytes > 0 || (updates.row_bytes > 0) != (indices.row_bytes > 0)) {
      return v.Bad(field, "both inputs are batched or neither is, and the output is not");
    }
    const int64_t rows = out.shape.empty() ? 0 : out.shape[0], elements = v.Elements(table().outputs[0]);
    if (rows <= 0 || elements <= 0) return v.Bad(field, "the output has no rows");
    const int64_t width = elements / rows, given = v.Elements(table().inputs[0]);
    if (given % width != 0 || given / width != v.Elements(table().inputs[1])) {
      return v.Bad(field, "updates, indices and rows do not fit together");
    }
    return absl::OkStatus();
  }

  int64_t GpuLaunches(const WorkContext& context) const override { return GpuScatterLaunches(Indices(context)); }
  uint64_t WorkspaceBytes(const WorkContext& context) const override {
    return GpuScatterWorkspaceBytes(Indices(context));
  }

 private:
  int64_t Indices(const WorkContext& context) const {
    const format::Buffer& indices = context.Buffer(table().inputs[1]);
    const uint64_t size = SizeOf(indices.dtype);
    const uint64_t bytes = indices.row_bytes > 0 ? indices.row_bytes * context.rows() : indices.bytes;
    return static_cast<int64_t>(bytes / size);
  }
};

}  // namespace

std::unique_ptr<Command> NewScatterAdd(const format::Command& table) { return std::make_unique<ScatterAdd>(table); }

}  // namespace tandem
