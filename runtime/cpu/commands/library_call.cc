// The command LibraryCall on a CPU: calls oneDNN, or hand-written loops in its place.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/cpu/commands/kinds.h"
#include "runtime/cpu/commands/shorter_calls.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {
namespace {

class CpuLibraryCall final : public CpuCommand {
 public:
  CpuLibraryCall(const PlanContext& context, const format::Command& table, std::unique_ptr<OneDnnPrimitive> primitive)
      : CpuCommand(context, table), call_(*table.body.As<format::LibraryCall>()), primitive_(std::move(primitive)) {
    reduces_batch_ = InfoOf(call_).reduces_batch;
    microbatch_rows_ = context.index().microbatch_rows;
    if (RowsAreIndependent(context)) shorter_.emplace(call_, microbatch_rows_, *primitive_, context.num_threads);
    for (const auto* operands : {&inputs(), &outputs()}) {
      for (const Operand& o : *operands) staging_bytes_ += AlignUp(o.row_bytes * microbatch_rows_, 64);
    }
    pieces_apart_ = true;
    work.Add(0, primitive_->parts(), 1);
  }

  uint64_t scratch_bytes() const override {
    const uint64_t joint = joint_ == nullptr ? 0 : joint_->scratch_bytes();
    return AlignUp(std::max(primitive_->scratch_bytes(), joint), 64);
  }
  uint64_t staging_bytes() const override { return staging_bytes_; }

  void RunPiece(GlobalRun& run, int device, const Piece& piece, int thread) const override {
    const MicrobatchContext context = run.At(device);
    absl::InlinedVector<void*, 4> args;
    for (const Operand& o : inputs()) args.push_back(context.Address(o));
    run.Update(primitive_->RunParts(thread, args, context.Address(outputs()[0]),
                                    run.state.threads[thread].library.data(), piece.begin, piece.end));
  }

  // A primitive may compute more rows than there are. The memory of the missing rows may belong to something else (the
  // caller's tensor ends, the next lane begins), so operands that are not in the microbatch arena are copied to and
  // from the staging memory.
  absl::Status RunRows(const MapRun& run, const MicrobatchContext& context, int64_t rows, int64_t) const override {
    if (rows == microbatch_rows_) return RunWhole(run, *primitive_, context);
    const auto [primitive, computed_rows] = shorter_.has_value()
                                                ? shorter_->For(rows, run.scratch_bytes)
                                                : ShorterCalls::Choice{primitive_.get(), microbatch_rows_};
    if (rows == computed_rows) return RunWhole(run, *primitive, context);
    void** args = run.args();
    uint8_t* scratch = run.memory().library.data();
    uint8_t* staging = scratch + run.scratch_bytes;
    for (size_t i = 0; i < inputs().size(); ++i) {
      const Operand& o = inputs()[i];
      uint8_t* address = context.Address(o);
      const uint64_t valid = rows * o.row_bytes, all = computed_rows * o.row_bytes;
      const bool staged = o.row_bytes > 0 && o.space != format::Space::kMicrobatch;
      if (staged) {
        std::memcpy(staging, address, valid);
        address = staging;
        staging += AlignUp(all, 64);
      }
      if (staged || reduces_batch_) std::memset(address + valid, 0, all - valid);
      args[i] = address;
    }
    const Operand& out = outputs()[0];
    uint8_t* address = context.Address(out);
    const bool staged = out.row_bytes > 0 && out.space != format::Space::kMicrobatch;
    TD_RETURN_IF_ERROR(
        primitive->Run(run.thread, absl::MakeConstSpan(args, inputs().size()), staged ? staging : address, scratch));
    if (staged) std::memcpy(address, staging, rows * out.row_bytes);
    return absl::OkStatus();
  }

  absl::Status PlanJoint(const PlanContext& context, int lanes) override {
    format::LibraryCall call = call_;
    // the loader allows only matrix products to be `joint` (one call for several lanes)
    format::MatMul& product = *call.operation.As<format::MatMul>();
    product.a_shape[0] *= lanes;
    product.y_shape[0] *= lanes;
    TD_ASSIGN_OR_RETURN(joint_, OneDnnPrimitive::Create(call, context.num_threads));
    return absl::OkStatus();
  }
  bool is_joint() const override { return joint_ != nullptr; }
  absl::Status RunJoint(const MapRun& run, const MicrobatchContext& first_lane) const override {
    return RunWhole(run, *joint_, first_lane);
  }

 private:
  // True if each row of the result is computed from the same row of the inputs and from what has no rows. Steps of
  // trainings and evaluations keep to whole microbatches.
  bool RowsAreIndependent(const PlanContext& context) const {
    if (context.index().mode != "predict" || !context.program.lane_slots.empty() || reduces_batch_) return false;
    if (inputs().size() < 2 || inputs()[0].row_bytes == 0 || outputs()[0].row_bytes == 0) return false;
    return (inputs()[1].row_bytes > 0) == (call_.operation.As<format::BatchMatMul>() != nullptr);
  }

  absl::Status RunWhole(const MapRun& run, const OneDnnPrimitive& primitive, const MicrobatchContext& context) const {
    void** args = run.args();
    for (size_t i = 0; i < inputs().size(); ++i) args[i] = context.Address(inputs()[i]);
    return primitive.Run(run.thread, absl::MakeConstSpan(args, inputs().size()), context.Address(outputs()[0]),
                         run.memory().library.data());
  }

  const format::LibraryCall& call_;
  std::unique_ptr<OneDnnPrimitive> primitive_;
  // the primitive for the rows of several lanes that run together; null if the call is not `joint`
  std::unique_ptr<OneDnnPrimitive> joint_;
  std::optional<ShorterCalls> shorter_;  // not set where a short microbatch takes the primitive for a whole one
  bool reduces_batch_ = false;
  int64_t microbatch_rows_ = 0;
  uint64_t staging_bytes_ = 0;
};

// Checks that the buffer of packed weights is as large as oneDNN on this machine needs.
absl::Status CheckPacked(const PlanContext& context, const format::Command& table, const format::LibraryCall& call) {
  if (!InfoOf(call).packed) return absl::OkStatus();
  const bool packs = call.operation.As<format::PackWeights>() != nullptr;
  TD_ASSIGN_OR_RETURN(const uint64_t bytes, PackedWeightsBytes(call));
  const format::Buffer& b = context.program.buffers[packs ? table.outputs[0] : table.inputs[1]];
  if (b.bytes >= bytes) return absl::OkStatus();
  return WithExitCode(absl::DataLossError(absl::StrCat(context.executable.name(), ": packed weights need ", bytes,
                                                       " bytes and buffer ", b.name, " has ", b.bytes)),
                      kExitBadData);
}

}  // namespace

CpuCommandOr NewCpuLibraryCall(const PlanContext& context, const format::Command& table) {
  const format::LibraryCall& call = *table.body.As<format::LibraryCall>();
  TD_ASSIGN_OR_RETURN(std::unique_ptr<OneDnnPrimitive> primitive, OneDnnPrimitive::Create(call, context.num_threads));
  TD_RETURN_IF_ERROR(CheckPacked(context, table, call));
  return std::make_unique<CpuLibraryCall>(context, table, std::move(primitive));
}

}  // namespace tandem
