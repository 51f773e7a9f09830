#include "runtime/executable/executable_verify.h"

#include <cstdint>
#include <vector>

#include "base/initializer.h"
#include "runtime/commands/executable_verifier.h"
#include "runtime/commands/lane_count.h"
#include "runtime/format/kernel_entry.h"

namespace tandem {
namespace {

constexpr uint32_t kMaxReplicas = 4096;
constexpr uint32_t kMaxRows = 1 << 30;

bool KnownDType(DType t) { return DType::kInvalid < t && t <= DType::kBFloat16; }

uint64_t ElementBytes(DType t) { return SizeOf(t); }

// Checks all parts of the index. `field` says in messages which part is being checked.
class IndexVerifier : public ExecutableVerifier {
 public:
  IndexVerifier(const format::Index& index, const std::string& name) : ExecutableVerifier(index, name, nullptr) {}

  absl::Status Run() {
    TD_RETURN_IF_ERROR(CheckHeader());
    TD_RETURN_IF_ERROR(CheckTables());
    for (size_t i = 0; i < x_.programs.size(); ++i) {
      program_ = &x_.programs[i];
      TD_RETURN_IF_ERROR(CheckProgram(absl::StrCat("programs[", i, "]")));
    }
    return VerifyGpuParts(x_, name_);
  }

 private:
  absl::Status CheckHeader() {
    if (x_.version != 3) return Bad("version", "this runtime reads version 3, not ", x_.version);
    if (x_.mode != "train" && x_.mode != "eval" && x_.mode != "predict")
      return Bad("mode", "unknown mode '", x_.mode, "'");
    uint64_t replicas = x_.replicas.size();
    if (replicas == 0 || replicas > kMaxReplicas) return Bad("replicas", "there must be 1 to ", kMaxReplicas);
    if (x_.lanes == 0 || x_.lanes % replicas != 0 || !CheckLaneCount(x_.lanes, static_cast<int64_t>(replicas)).ok()) {
      return Bad("lanes", x_.lanes, " is not a power of two times the odd part of ", replicas, " replicas");
    }
    if (x_.rows_per_lane == 0 || x_.rows_per_lane > kMaxRows) return Bad("rows_per_lane", "out of range");
    if (x_.microbatch_rows == 0 || x_.microbatch_rows > x_.rows_per_lane) {
      return Bad("microbatch_rows", "must be in [1, rows_per_lane]");
    }
    replica_rows_ = x_.lanes / replicas * x_.rows_per_lane;
    for (size_t i = 0; i < x_.placement.size(); ++i) {
      const format::PlacedPart& part = x_.placement[i];
      const std::string field = absl::StrCat("placement[", i, "]");
      TD_RETURN_IF_ERROR(CheckIndex(field, part.server, x_.parameter_servers, "parameter server"));
      constexpr int64_t kMostRows = int64_t{1} << 48;
      const auto in_range = [](int64_t row) { return row >= 0 && row <= kMostRows; };
      if (!in_range(part.first_row) || !in_range(part.rows)) return Bad(field, "rows are out of range");
    }
    return absl::OkStatus();
  }

  // Checks a type, and a shape that does not include the batch: its number of elements must not overflow.
  absl::Status CheckStatic(absl::string_view field, DType dtype, const std::vector<int64_t>& shape) const {
    if (!KnownDType(dtype)) return Bad(field, "unknown dtype ", static_cast<int>(dtype));
    if (CheckedElements(shape) < 0) return Bad(field, "bad shape ", ShapeString(shape));
    return absl::OkStatus();
  }

  // Checks the arguments that a kernel's description lists, and that its code is the code for which the description was
  // made.
  absl::Status CheckKernelArguments(const std::string& field, const format::Kernel& k) const {
    const bool elements = k.domain == format::Domain::kElements;
    const bool rows = k.domain == format::Domain::kRows || k.domain == format::Domain::kBlocks;
    for (const auto* arguments : {&k.inputs, &k.outputs}) {
      for (size_t i = 0; i < arguments->size(); ++i) {
        const format::KernelArgument& a = (*arguments)[i];
        const std::string at = absl::StrCat(field, arguments == &k.inputs ? ".inputs[" : ".outputs[", i, "]");
        if (!KnownDType(a.dtype)) return Bad(at, "unknown dtype ", static_cast<int>(a.dtype));
        if (!Known(a.extent)) return Bad(at, "unknown extent");
        if ((a.extent == format::Extent::kRange && !elements) || (a.extent == format::Extent::kRow && !rows)) {
          return Bad(at, "a kernel over ", format::Name(k.domain), " has no such argument");
        }
      }
    }
    if (k.entry_crc32c == KernelEntryChecksum(x_, k)) return absl::OkStatus();
    return Bad(field + ".entry_crc32c", "the code of kernel ", k.name, " is not what this description was made for");
  }

  absl::Status CheckTables() {
    for (size_t i = 0; i < x_.replicas.size(); ++i) {
      TD_RETURN_IF_ERROR(
          CheckIndex(absl::StrCat("replicas[", i, "].program"), x_.replicas[i].program, x_.programs.size(), "program"));
    }
    for (size_t i = 0; i < x_.segments.size(); ++i) {
      if (!Known(x_.segments[i].kind)) return Bad(absl::StrCat("segments[", i, "].kind"), "unknown");
      if (x_.segments[i].kind != format::SegmentKind::kConstants) continue;
      if (constants_ != nullptr) return Bad(absl::StrCat("segments[", i, "]"), "a second segment of constants");
      constants_ = &x_.segments[i];
    }
    for (size_t i = 0; i < x_.kernels.size(); ++i) {
      const format::Kernel& k = x_.kernels[i];
      std::string field = absl::StrCat("kernels[", i, "]");
      if (k.symbol.empty()) return Bad(field, "no symbol");
      if (!Known(k.domain)) return Bad(field, "unknown domain");
      TD_RETURN_IF_ERROR(CheckIndex(field + ".segment", k.segment, x_.segments.size(), "segment"));
      const bool gpu = k.gpu.has_value();
      if (x_.segments[k.segment].kind != (gpu ? format::SegmentKind::kPtx : format::SegmentKind::kElfObject))
        return Bad(field + ".segment", gpu ? "not PTX" : "not an ELF object");
      for (uint32_t location : k.locations) TD_RETURN_IF_ERROR(CheckLocation(field + ".locations", location));
      TD_RETURN_IF_ERROR(CheckKernelArguments(field, k));
    }
    for (size_t i = 0; i < x_.variables.size(); ++i) {
      const format::Variable& v = x_.variables[i];
      std::string field = absl::StrCat("variables[", i, "]");
      if (v.name.empty()) return Bad(field, "no name");
      TD_RETURN_IF_ERROR(CheckStatic(field, v.dtype, v.shape));
      if (v.initializer.kind < 0 || v.initializer.kind >= Initializer::kKinds) {
        return Bad(field + ".initializer", "unknown kind ", v.initializer.kind);
      }
    }
    for (size_t i = 0; i < x_.inputs.size(); ++i) {
      const format::Input& in = x_.inputs[i];
      std::string field = absl::StrCat("inputs[", i, "]");
      if (in.shape.empty() || in.shape[0] != kBatch) return Bad(field, "the first dimension must be the batch");
      TD_RETURN_IF_ERROR(CheckStatic(field, in.dtype, {in.shape.begin() + 1, in.shape.end()}));
    }
    for (size_t i = 0; i < x_.scalars.size(); ++i) {
      if (!KnownDType(x_.scalars[i].dtype)) return Bad(absl::StrCat("scalars[", i, "]"), "unknown dtype");
    }
    for (size_t i = 0; i < x_.collectives.size(); ++i) {
      if (!KnownDType(x_.collectives[i].dtype)) return Bad(absl::StrCat("collectives[", i, "]"), "unknown dtype");
      for (uint32_t r : x_.collectives[i].group) {
        TD_RETURN_IF_ERROR(CheckIndex(absl::StrCat("collectives[", i, "].group"), r, x_.replicas.size(), "replica"));
      }
    }
    for (size_t i = 0; i < x_.outputs.size(); ++i) {
      for (const auto& program : x_.programs) {
        std::string field = absl::StrCat("outputs[", i, "]");
        TD_RETURN_IF_ERROR(CheckIndex(field, x_.outputs[i].buffer, program.buffers.size(), "buffer"));
        format::Space space = program.buffers[x_.outputs[i].buffer].space;
        if (space != format::Space::kStep && space != format::Space::kBatch && space != format::Space::kVariable) {
          return Bad(field, "an output lives in the step or batch arena or is a variable");
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckProgram(const std::string& field) {
    const format::Program& p = *program_;
    if (p.device_class != "cpu" && p.device_class != "gpu") {
      return Bad(field + ".device_class", "unknown class '", p.device_class, "'");
    }
    uint64_t arenas[] = {p.lane_bytes, p.microbatch_bytes, p.step_bytes, p.batch_bytes};
    for (uint64_t bytes : arenas) {
      if (bytes > kMaxArenaBytes) return Bad(field, "an arena of ", bytes, " bytes is too large");
    }
    if (p.lane_bytes > kMaxArenaBytes / x_.lanes) return Bad(field + ".lane_bytes", "too large for the lanes");
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckBuffer(absl::StrCat(field, ".buffers[", i, "]"), p.buffers[i]));
    }
    for (size_t i = 0; i < p.lane_slots.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckLaneSlot(absl::StrCat(field, ".lane_slots[", i, "]"), p.lane_slots[i]));
    }
    return VerifyCommands(x_, p, name_, field);
  }

  // True if the buffer is a value of this type and shape, or a view of such a value under another shape. Both shapes
  // have been checked.
  static bool SameBytes(const format::Buffer& b, DType dtype, const std::vector<int64_t>& shape) {
    auto batched = [](const std::vector<int64_t>& s) { return !s.empty() && s[0] == kBatch; };
    auto elements = [&](const std::vector<int64_t>& s) {
      return CheckedElements(std::vector<int64_t>(s.begin() + (batched(s) ? 1 : 0), s.end()));
    };
    return b.dtype == dtype && batched(b.shape) == batched(shape) && elements(b.shape) == elements(shape);
  }

  absl::Status CheckBuffer(const std::string& field, const format::Buffer& b) const {
    if (!Known(b.space)) return Bad(field, "unknown space");
    bool batched = !b.shape.empty() && b.shape[0] == kBatch;
    std::vector<int64_t> row(b.shape.begin() + (batched ? 1 : 0), b.shape.end());
    TD_RETURN_IF_ERROR(CheckStatic(field, b.dtype, row));
    uint64_t row_bytes = CheckedElements(row) * ElementBytes(b.dtype);
    if (b.row_bytes != (batched ? row_bytes : 0) || (batched && row_bytes == 0)) {
      return Bad(field, "row_bytes is ", b.row_bytes, " for ", ShapeString(b.shape));
    }
    uint64_t rows = batched ? (b.space == format::Space::kMicrobatch ? x_.microbatch_rows : replica_rows_) : 1;
    // inputs are in the caller's memory, not in a buffer
    if (b.space != format::Space::kInput && b.bytes / rows < row_bytes) {
      return Bad(field, b.bytes, " bytes are too few for ", ShapeString(b.shape));
    }
    uint64_t room = 0;
    switch (b.space) {
      case format::Space::kVariable: {
        TD_RETURN_IF_ERROR(CheckIndex(field, b.index, x_.variables.size(), "variable"));
        const format::Variable& v = x_.variables[b.index];
        if (!SameBytes(b, v.dtype, v.shape)) return Bad(field, "differs from variable ", v.name);
        return b.bytes == row_bytes ? absl::OkStatus() : Bad(field, "bytes is not the variable's size");
      }
      case format::Space::kInput: {
        TD_RETURN_IF_ERROR(CheckIndex(field, b.index, x_.inputs.size(), "input"));
        const format::Input& in = x_.inputs[b.index];
        return SameBytes(b, in.dtype, in.shape) ? absl::OkStatus() : Bad(field, "differs from input ", in.name);
      }
      case format::Space::kScalar:
        TD_RETURN_IF_ERROR(CheckIndex(field, b.index, x_.scalars.size(), "scalar"));
        if (!SameBytes(b, x_.scalars[b.index].dtype, {})) return Bad(field, "differs from the scalar");
        return b.bytes <= 8 ? absl::OkStatus() : Bad(field, "a scalar has at most 8 bytes");
      case format::Space::kBatch:
        if (!batched) return Bad(field, "a buffer in the batch arena needs a batch dimension");
        room = program_->batch_bytes;
        break;
      case format::Space::kLane:
      case format::Space::kStep:
        if (batched) return Bad(field, "a batched buffer cannot be in a lane slot or the step arena");
        room = b.space == format::Space::kLane ? program_->lane_bytes : program_->step_bytes;
        break;
      case format::Space::kMicrobatch:
        room = program_->microbatch_bytes;
        break;
      case format::Space::kConstant:
        if (batched) return Bad(field, "a constant cannot be batched");
        room = constants_ == nullptr ? 0 : constants_->length;
        break;
    }
    if (b.bytes > room || b.offset > room - b.bytes) {
      return Bad(field, "[", b.offset, ", +", b.bytes, ") lies outside its arena of ", room, " bytes");
    }
    if (b.offset % ElementBytes(b.dtype) != 0) return Bad(field, "offset ", b.offset, " is not aligned");
    return absl::OkStatus();
  }

  absl::Status CheckLaneSlot(const std::string& field, const format::LaneSlot& slot) {
    if (!Known(slot.kind) || slot.kind == format::ReduceKind::kMean) return Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(CheckIndex(field, slot.buffer, program_->buffers.size(), "buffer"));
    const format::Buffer& b = Buffer(slot.buffer);
    if (b.space != format::Space::kLane) return Bad(field, "buffer ", slot.buffer, " is not in the lane slot");
    return CheckReducible(field, slot.buffer, slot.kind);
  }

  const format::Segment* constants_ = nullptr;
  uint64_t replica_rows_ = 0;
};

}  // namespace

absl::Status VerifyExecutable(const format::Index& index, const std::string& name) {
  return IndexVerifier(index, name).Run();
}

}  // namespace tandem
