#include "runtime/executable_verify.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/library_call.h"

namespace tandem {
namespace {

constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 44;
constexpr uint32_t kMaxLanes = 1 << 20;
constexpr uint32_t kMaxReplicas = 4096;
constexpr uint32_t kMaxRows = 1 << 30;

template <typename E>
bool Known(E value) {
  return value >= E::MIN && value <= E::MAX;
}

bool KnownDType(fb::DType t) { return Known(t) && t != fb::DType::Invalid; }

uint64_t ElementBytes(fb::DType t) { return SizeOf(static_cast<DType>(t)); }

uint32_t OddPart(uint32_t n) {
  while (n % 2 == 0) n /= 2;
  return n;
}

// Walks the index; `field` says where it is.
class IndexVerifier {
 public:
  IndexVerifier(const fb::ExecutableT& index, const std::string& name) : x_(index), name_(name) {}

  absl::Status Run() {
    TD_RETURN_IF_ERROR(CheckHeader());
    TD_RETURN_IF_ERROR(CheckTables());
    for (size_t i = 0; i < x_.programs.size(); ++i) {
      program_ = x_.programs[i].get();
      TD_RETURN_IF_ERROR(CheckProgram(absl::StrCat("programs[", i, "]")));
    }
    return absl::OkStatus();
  }

 private:
  template <typename... Args>
  absl::Status Bad(absl::string_view field, const Args&... what) const {
    return WithExitCode(absl::DataLossError(absl::StrCat(name_, ": ", field, ": ", what...)), kExitBadData);
  }

  absl::Status CheckIndex(absl::string_view field, uint64_t index, uint64_t size, absl::string_view table) const {
    if (index < size) return absl::OkStatus();
    return Bad(field, table, " ", index, " does not exist (there are ", size, ")");
  }

  absl::Status CheckHeader() {
    if (x_.version != 1) return Bad("version", "this runtime reads version 1, not ", x_.version);
    if (x_.mode != "train" && x_.mode != "eval" && x_.mode != "predict")
      return Bad("mode", "unknown mode '", x_.mode, "'");
    uint64_t replicas = x_.replicas.size();
    if (replicas == 0 || replicas > kMaxReplicas) return Bad("replicas", "there must be 1 to ", kMaxReplicas);
    uint32_t odd = OddPart(static_cast<uint32_t>(replicas));
    if (x_.lanes == 0 || x_.lanes > kMaxLanes || x_.lanes % replicas != 0 || OddPart(x_.lanes) != odd) {
      return Bad("lanes", x_.lanes, " is not a power of two times the odd part of ", replicas, " replicas");
    }
    if (x_.rows_per_lane == 0 || x_.rows_per_lane > kMaxRows) return Bad("rows_per_lane", "out of range");
    if (x_.shard_rows == 0 || x_.shard_rows > x_.rows_per_lane) {
      return Bad("shard_rows", "must be in [1, rows_per_lane]");
    }
    replica_rows_ = x_.lanes / replicas * x_.rows_per_lane;
    return absl::OkStatus();
  }

  // Shape without batch; counts elements.
  absl::Status CheckStatic(absl::string_view field, fb::DType dtype, const std::vector<int64_t>& shape) const {
    if (!KnownDType(dtype)) return Bad(field, "unknown dtype ", static_cast<int>(dtype));
    if (CheckedElements(shape) < 0) return Bad(field, "bad shape ", ShapeString(shape));
    return absl::OkStatus();
  }

  absl::Status CheckTables() {
    for (size_t i = 0; i < x_.replicas.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckIndex(absl::StrCat("replicas[", i, "].program"), x_.replicas[i]->program,
                                    x_.programs.size(), "program"));
    }
    for (size_t i = 0; i < x_.segments.size(); ++i) {
      if (!Known(x_.segments[i]->kind)) return Bad(absl::StrCat("segments[", i, "].kind"), "unknown");
      if (x_.segments[i]->kind != fb::SegmentKind::Constants) continue;
      if (constants_ != nullptr) return Bad(absl::StrCat("segments[", i, "]"), "a second segment of constants");
      constants_ = x_.segments[i].get();
    }
    for (size_t i = 0; i < x_.kernels.size(); ++i) {
      const fb::KernelT& k = *x_.kernels[i];
      std::string field = absl::StrCat("kernels[", i, "]");
      if (k.symbol.empty()) return Bad(field, "no symbol");
      if (!Known(k.domain)) return Bad(field, "unknown domain");
      TD_RETURN_IF_ERROR(CheckIndex(field + ".segment", k.segment, x_.segments.size(), "segment"));
      if (x_.segments[k.segment]->kind != fb::SegmentKind::ElfObject)
        return Bad(field + ".segment", "not an ELF object");
      for (uint32_t location : k.locations) TD_RETURN_IF_ERROR(CheckLocation(field + ".locations", location));
    }
    for (size_t i = 0; i < x_.variables.size(); ++i) {
      const fb::VariableT& v = *x_.variables[i];
      std::string field = absl::StrCat("variables[", i, "]");
      if (v.name.empty()) return Bad(field, "no name");
      TD_RETURN_IF_ERROR(CheckStatic(field, v.dtype, v.shape));
      if (v.initializer != nullptr && (v.initializer->kind < 0 || v.initializer->kind > 3)) {
        return Bad(field + ".initializer", "unknown kind ", v.initializer->kind);
      }
    }
    for (size_t i = 0; i < x_.inputs.size(); ++i) {
      const fb::InputT& in = *x_.inputs[i];
      std::string field = absl::StrCat("inputs[", i, "]");
      if (in.shape.empty() || in.shape[0] != kBatch) return Bad(field, "the first dimension must be the batch");
      TD_RETURN_IF_ERROR(CheckStatic(field, in.dtype, {in.shape.begin() + 1, in.shape.end()}));
    }
    for (size_t i = 0; i < x_.scalars.size(); ++i) {
      if (!KnownDType(x_.scalars[i]->dtype)) return Bad(absl::StrCat("scalars[", i, "]"), "unknown dtype");
    }
    for (size_t i = 0; i < x_.collectives.size(); ++i) {
      if (!KnownDType(x_.collectives[i]->dtype)) return Bad(absl::StrCat("collectives[", i, "]"), "unknown dtype");
      for (uint32_t r : x_.collectives[i]->group) {
        TD_RETURN_IF_ERROR(CheckIndex(absl::StrCat("collectives[", i, "].group"), r, x_.replicas.size(), "replica"));
      }
    }
    for (size_t i = 0; i < x_.outputs.size(); ++i) {
      for (const auto& program : x_.programs) {
        std::string field = absl::StrCat("outputs[", i, "]");
        TD_RETURN_IF_ERROR(CheckIndex(field, x_.outputs[i]->buffer, program->buffers.size(), "buffer"));
        fb::Space space = program->buffers[x_.outputs[i]->buffer]->space;
        if (space != fb::Space::Step && space != fb::Space::Batch && space != fb::Space::Variable) {
          return Bad(field, "an output lives in the step or batch arena or is a variable");
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLocation(const std::string& field, uint32_t location) const {
    uint64_t size = x_.debug == nullptr ? 0 : x_.debug->locations.size();
    return location == 0 && size == 0 ? absl::OkStatus() : CheckIndex(field, location, size, "location");
  }

  absl::Status CheckProgram(const std::string& field) {
    const fb::ProgramT& p = *program_;
    uint64_t arenas[] = {p.lane_bytes, p.shard_bytes, p.step_bytes, p.batch_bytes};
    for (uint64_t bytes : arenas) {
      if (bytes > kMaxArenaBytes) return Bad(field, "an arena of ", bytes, " bytes is too large");
    }
    if (p.lane_bytes > kMaxArenaBytes / x_.lanes) return Bad(field + ".lane_bytes", "too large for the lanes");
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckBuffer(absl::StrCat(field, ".buffers[", i, "]"), *p.buffers[i]));
    }
    for (size_t i = 0; i < p.lane_slots.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckLaneSlot(absl::StrCat(field, ".lane_slots[", i, "]"), *p.lane_slots[i]));
    }
    for (size_t i = 0; i < p.sections.size(); ++i) {
      const fb::SectionT& section = *p.sections[i];
      std::string at = absl::StrCat(field, ".sections[", i, "]");
      if (!Known(section.kind)) return Bad(at, "unknown kind");
      for (size_t j = 0; j < section.steps.size(); ++j) {
        TD_RETURN_IF_ERROR(CheckStep(absl::StrCat(at, ".steps[", j, "]"), *section.steps[j], section.kind));
      }
    }
    return absl::OkStatus();
  }

  // The buffer is a value of this type, or a view of one under another shape. Both shapes are known to be good.
  static bool SameBytes(const fb::BufferT& b, fb::DType dtype, const std::vector<int64_t>& shape) {
    auto batched = [](const std::vector<int64_t>& s) { return !s.empty() && s[0] == kBatch; };
    auto elements = [&](const std::vector<int64_t>& s) {
      return CheckedElements(std::vector<int64_t>(s.begin() + (batched(s) ? 1 : 0), s.end()));
    };
    return b.dtype == dtype && batched(b.shape) == batched(shape) && elements(b.shape) == elements(shape);
  }

  absl::Status CheckBuffer(const std::string& field, const fb::BufferT& b) const {
    if (!Known(b.space)) return Bad(field, "unknown space");
    bool batched = !b.shape.empty() && b.shape[0] == kBatch;
    std::vector<int64_t> row(b.shape.begin() + (batched ? 1 : 0), b.shape.end());
    TD_RETURN_IF_ERROR(CheckStatic(field, b.dtype, row));
    uint64_t row_bytes = CheckedElements(row) * ElementBytes(b.dtype);
    if (b.row_bytes != (batched ? row_bytes : 0) || (batched && row_bytes == 0)) {
      return Bad(field, "row_bytes is ", b.row_bytes, " for ", ShapeString(b.shape));
    }
    uint64_t rows = batched ? (b.space == fb::Space::Shard ? x_.shard_rows : replica_rows_) : 1;
    if (b.space != fb::Space::Input && b.bytes / rows < row_bytes) {  // the caller owns inputs
      return Bad(field, b.bytes, " bytes are too few for ", ShapeString(b.shape));
    }
    uint64_t room = 0;
    switch (b.space) {
      case fb::Space::Variable: {
        TD_RETURN_IF_ERROR(CheckIndex(field, b.index, x_.variables.size(), "variable"));
        const fb::VariableT& v = *x_.variables[b.index];
        if (!SameBytes(b, v.dtype, v.shape)) return Bad(field, "differs from variable ", v.name);
        return b.bytes == row_bytes ? absl::OkStatus() : Bad(field, "bytes is not the variable's size");
      }
      case fb::Space::Input: {
        TD_RETURN_IF_ERROR(CheckIndex(field, b.index, x_.inputs.size(), "input"));
        const fb::InputT& in = *x_.inputs[b.index];
        return SameBytes(b, in.dtype, in.shape) ? absl::OkStatus() : Bad(field, "differs from input ", in.name);
      }
      case fb::Space::Scalar:
        TD_RETURN_IF_ERROR(CheckIndex(field, b.index, x_.scalars.size(), "scalar"));
        if (!SameBytes(b, x_.scalars[b.index]->dtype, {})) return Bad(field, "differs from the scalar");
        return b.bytes <= 8 ? absl::OkStatus() : Bad(field, "a scalar has at most 8 bytes");
      case fb::Space::Batch:
        if (!batched) return Bad(field, "a buffer in the batch arena needs a batch dimension");
        room = program_->batch_bytes;
        break;
      case fb::Space::Lane:
      case fb::Space::Step:
        if (batched) return Bad(field, "a batched buffer cannot be in a lane slot or the step arena");
        room = b.space == fb::Space::Lane ? program_->lane_bytes : program_->step_bytes;
        break;
      case fb::Space::Shard:
        room = program_->shard_bytes;
        break;
      case fb::Space::Constant:
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

  absl::Status CheckLaneSlot(const std::string& field, const fb::LaneSlotT& slot) {
    if (!Known(slot.kind) || slot.kind == fb::ReduceKind::Mean) return Bad(field, "bad kind");
    uint64_t parts = slot.kind == fb::ReduceKind::Moments ? 3 : 1;
    for (uint64_t i = 0; i < parts; ++i) {
      TD_RETURN_IF_ERROR(CheckIndex(field, slot.buffer + i, program_->buffers.size(), "buffer"));
      const fb::BufferT& b = Buffer(slot.buffer + i);
      if (b.space != fb::Space::Lane) return Bad(field, "buffer ", slot.buffer + i, " is not in the lane slot");
    }
    if (parts == 3) {
      TD_RETURN_IF_ERROR(CheckMoments(field, slot.buffer, slot.buffer + 1, slot.buffer + 2));
    } else {
      TD_RETURN_IF_ERROR(CheckReducible(field, slot.buffer, slot.kind));
    }
    return absl::OkStatus();
  }

  const fb::BufferT& Buffer(uint64_t i) const { return *program_->buffers[i]; }

  int64_t Elements(uint64_t i) const {  // of one row when batched
    const fb::BufferT& b = Buffer(i);
    return CheckedElements(b.row_bytes > 0 ? std::vector<int64_t>(b.shape.begin() + 1, b.shape.end()) : b.shape);
  }

  absl::Status CheckReducible(const std::string& field, uint64_t buffer, fb::ReduceKind kind) const {
    fb::DType t = Buffer(buffer).dtype;
    if (t == fb::DType::Bool || t == fb::DType::UInt8) return Bad(field, "cannot be reduced: bool or uint8");
    if (kind == fb::ReduceKind::Mean && t != fb::DType::Float32 && t != fb::DType::Float64) {
      return Bad(field, "a mean needs floating point");
    }
    return absl::OkStatus();
  }

  // Counts are one number or one per mean; all float32.
  absl::Status CheckMoments(const std::string& field, uint64_t count, uint64_t mean, uint64_t m2) const {
    for (uint64_t b : {count, mean, m2}) {
      if (Buffer(b).dtype != fb::DType::Float32) return Bad(field, "moments must be float32");
    }
    if (Elements(mean) != Elements(m2) || (Elements(count) != 1 && Elements(count) != Elements(mean))) {
      return Bad(field, "the sizes of count, mean and m2 do not fit together");
    }
    return absl::OkStatus();
  }

  // The kind of the slot that a lane buffer belongs to, as its first (or only) part; or an error.
  absl::Status CheckSlotOf(const std::string& field, uint32_t buffer, bool has_kind, fb::ReduceKind kind) const {
    for (const auto& slot : program_->lane_slots) {
      uint64_t parts = slot->kind == fb::ReduceKind::Moments ? 3 : 1;
      if (buffer < slot->buffer || buffer >= slot->buffer + parts) continue;
      return has_kind && slot->kind != kind ? Bad(field, "reduced by another kind than its slot") : absl::OkStatus();
    }
    return Bad(field, "buffer ", buffer, " is not in lane_slots");
  }

  absl::Status CheckOperand(const std::string& field, uint32_t buffer, fb::SectionKind section, bool output) const {
    TD_RETURN_IF_ERROR(CheckIndex(field, buffer, program_->buffers.size(), "buffer"));
    const fb::BufferT& b = Buffer(buffer);
    using fb::Space;
    if (output) {
      if (b.space == Space::Input || b.space == Space::Scalar || b.space == Space::Constant) {
        return Bad(field, "writes to an input, a scalar or a constant");
      }
      if (section == fb::SectionKind::Map) {
        if (b.space == Space::Variable || b.space == Space::Step) {
          return Bad(field, "a map section cannot write to a variable or the step arena");
        }
        if (b.space == Space::Lane) return CheckSlotOf(field, buffer, false, {});
      } else if (b.space == Space::Lane) {
        return Bad(field, "a global section cannot write to lane slots");
      }
    } else if (section == fb::SectionKind::Map && b.space == Space::Lane) {
      return Bad(field, "a map section cannot read lane slots");
    }
    if (section == fb::SectionKind::Global && (b.space == Space::Shard || b.space == Space::Input)) {
      return Bad(field, "a global section has no shard and no batch");
    }
    return absl::OkStatus();
  }

  absl::Status CheckStep(const std::string& field, const fb::StepT& step, fb::SectionKind section) {
    TD_RETURN_IF_ERROR(CheckLocation(field + ".location", step.location));
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckOperand(absl::StrCat(field, ".inputs[", i, "]"), step.inputs[i], section, false));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckOperand(absl::StrCat(field, ".outputs[", i, "]"), step.outputs[i], section, true));
    }
    bool map = section == fb::SectionKind::Map;
    switch (step.body.value == nullptr ? fb::StepBody::NONE : step.body.type) {
      case fb::StepBody::KernelLaunch:
        return CheckKernelLaunch(field, step, *step.body.AsKernelLaunch(), map);
      case fb::StepBody::LibraryCall:
        return CheckLibrary(field, step, *step.body.AsLibraryCall(), map);
      case fb::StepBody::Copy:
        return CheckCopy(field, step);
      case fb::StepBody::GroupedLaunch:
        return map ? Bad(field, "only a global section can have this")
                   : CheckGrouped(field, *step.body.AsGroupedLaunch());
      case fb::StepBody::LaneReduce:
        return map ? Bad(field, "only a global section can have this") : CheckLaneReduce(field, step);
      case fb::StepBody::AllReduce:
        return map ? Bad(field, "only a global section can have this") : CheckAllReduce(field, step);
      case fb::StepBody::ScatterAdd:
        return map ? Bad(field, "only a global section can have this") : CheckScatterAdd(field, step);
      case fb::StepBody::CheckFinite:
        if (map) return Bad(field, "only a global section can have this");
        return NoLane(field, step);
      default:
        return Bad(field, "unknown body");
    }
  }

  absl::Status NoLane(const std::string& field, const fb::StepT& step) const {
    for (uint32_t b : step.inputs) {
      if (Buffer(b).space == fb::Space::Lane) return Bad(field, "only LaneReduce reads lane slots");
    }
    return absl::OkStatus();
  }

  absl::Status CheckKernelLaunch(const std::string& field, const fb::StepT& step, const fb::KernelLaunchT& launch,
                                 bool map) {
    TD_RETURN_IF_ERROR(CheckIndex(field + ".kernel", launch.kernel, x_.kernels.size(), "kernel"));
    if (!map) TD_RETURN_IF_ERROR(NoLane(field, step));
    fb::Domain domain = x_.kernels[launch.kernel]->domain;
    if (domain == fb::Domain::Rows && !map) return Bad(field, "a kernel over rows needs a map section");
    if (domain != fb::Domain::Elements) return absl::OkStatus();
    for (uint32_t b : step.outputs) {
      if (Buffer(b).row_bytes > 0 || launch.count > static_cast<uint64_t>(Elements(b))) {
        return Bad(field, "output ", b, " has fewer than ", launch.count, " elements");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckGrouped(const std::string& field, const fb::GroupedLaunchT& g) {
    TD_RETURN_IF_ERROR(CheckIndex(field + ".kernel", g.kernel, x_.kernels.size(), "kernel"));
    if (x_.kernels[g.kernel]->domain != fb::Domain::Elements) return Bad(field, "needs a kernel over elements");
    if (g.num_args == 0 || g.args.size() != uint64_t{g.num_args} * g.counts.size()) {
      return Bad(field, g.args.size(), " arguments for ", g.counts.size(), " members with ", g.num_args, " each");
    }
    for (size_t i = 0; i < g.args.size(); ++i) {
      std::string at = absl::StrCat(field, ".args[", i, "]");
      TD_RETURN_IF_ERROR(CheckOperand(at, g.args[i], fb::SectionKind::Global, false));
      if (Buffer(g.args[i]).space == fb::Space::Lane) return Bad(at, "only LaneReduce reads lane slots");
      uint64_t elements = Elements(g.args[i]);
      // An operand is as large as the member or one number for all of it.
      if (elements != 1 && elements < g.counts[i / g.num_args])
        return Bad(at, "fewer elements than the member's count");
    }
    return absl::OkStatus();
  }

  absl::Status CheckCopy(const std::string& field, const fb::StepT& step) {
    if (step.inputs.size() != 1 || step.outputs.size() != 1) return Bad(field, "a copy has one input and one output");
    const fb::BufferT &from = Buffer(step.inputs[0]), &to = Buffer(step.outputs[0]);
    if (from.dtype != to.dtype || from.row_bytes != to.row_bytes ||
        Elements(step.inputs[0]) != Elements(step.outputs[0])) {
      return Bad(field, "input and output differ in size");
    }
    if (from.space == fb::Space::Lane || to.space == fb::Space::Lane) return Bad(field, "lane slots cannot be copied");
    return absl::OkStatus();
  }

  absl::Status CheckScatterAdd(const std::string& field, const fb::StepT& step) const {
    if (step.inputs.size() != 2 || step.outputs.size() != 1) {
      return Bad(field, "needs updates and indices and has one output");
    }
    TD_RETURN_IF_ERROR(NoLane(field, step));
    const fb::BufferT &updates = Buffer(step.inputs[0]), &indices = Buffer(step.inputs[1]);
    const fb::BufferT& out = Buffer(step.outputs[0]);
    if (updates.dtype != out.dtype || (out.dtype != fb::DType::Float32 && out.dtype != fb::DType::Float64)) {
      return Bad(field, "updates and output must be of one floating-point type");
    }
    if (indices.dtype != fb::DType::Int32 && indices.dtype != fb::DType::Int64) {
      return Bad(field, "indices must be int32 or int64");
    }
    if (out.row_bytes > 0 || (updates.row_bytes > 0) != (indices.row_bytes > 0)) {
      return Bad(field, "both inputs are batched or neither is, and the output is not");
    }
    const int64_t rows = out.shape.empty() ? 0 : out.shape[0], elements = Elements(step.outputs[0]);
    if (rows <= 0 || elements <= 0) return Bad(field, "the output has no rows");
    const int64_t width = elements / rows, given = Elements(step.inputs[0]);
    if (given % width != 0 || given / width != Elements(step.inputs[1])) {
      return Bad(field, "updates, indices and rows do not fit together");
    }
    return absl::OkStatus();
  }

  absl::Status CheckLaneReduce(const std::string& field, const fb::StepT& step) {
    fb::ReduceKind kind = step.body.AsLaneReduce()->kind;
    if (!Known(kind) || kind == fb::ReduceKind::Mean) return Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(CheckReduceOperands(field, step, kind));
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (Buffer(step.inputs[i]).space != fb::Space::Lane) return Bad(field, "input ", i, " is not in the lane slot");
      if (Buffer(step.outputs[i]).space != fb::Space::Step)
        return Bad(field, "output ", i, " is not in the step arena");
      TD_RETURN_IF_ERROR(CheckSlotOf(field, step.inputs[i], true, kind));
    }
    return absl::OkStatus();
  }

  absl::Status CheckAllReduce(const std::string& field, const fb::StepT& step) {
    const fb::AllReduceT& body = *step.body.AsAllReduce();
    if (!Known(body.kind)) return Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(CheckIndex(field + ".collective", body.collective, x_.collectives.size(), "collective"));
    if (step.inputs != step.outputs) return Bad(field, "an all-reduce works in place");
    for (uint32_t b : step.inputs) {
      if (Buffer(b).space != fb::Space::Step) return Bad(field, "buffer ", b, " is not in the step arena");
    }
    return CheckReduceOperands(field, step, body.kind);
  }

  absl::Status CheckReduceOperands(const std::string& field, const fb::StepT& step, fb::ReduceKind kind) {
    if (step.inputs.size() != step.outputs.size()) return Bad(field, "as many inputs as outputs are needed");
    if (kind == fb::ReduceKind::Moments && step.inputs.size() % 3 != 0) return Bad(field, "moments come in threes");
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      uint32_t in = step.inputs[i], out = step.outputs[i];
      if (Buffer(in).dtype != Buffer(out).dtype || Elements(in) != Elements(out) || Buffer(in).row_bytes > 0) {
        return Bad(field, "input and output ", i, " differ");
      }
      TD_RETURN_IF_ERROR(CheckReducible(field, in, kind));
      if (kind == fb::ReduceKind::Moments && i % 3 == 0) {
        TD_RETURN_IF_ERROR(CheckMoments(field, in, step.inputs[i + 1], step.inputs[i + 2]));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLibrary(const std::string& field, const fb::StepT& step, const fb::LibraryCallT& call, bool map) {
    absl::StatusOr<LibraryOperands> operands = CheckLibraryCall(call);
    if (!operands.ok()) return Bad(field, operands.status().message());
    if (!map) TD_RETURN_IF_ERROR(NoLane(field, step));
    if (step.inputs.size() != operands->inputs.size() || step.outputs.size() != operands->outputs.size()) {
      return Bad(field, "wrong number of inputs or outputs");
    }
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckLibraryOperand(absl::StrCat(field, ".inputs[", i, "]"), step.inputs[i],
                                             operands->inputs[i], operands->input_types[i]));
    }
    return CheckLibraryOperand(field + ".outputs[0]", step.outputs[0], operands->outputs[0], operands->output_types[0]);
  }

  absl::Status CheckLibraryOperand(const std::string& field, uint32_t buffer, const std::vector<int64_t>& shape,
                                   fb::DType type) const {
    const fb::BufferT& b = Buffer(buffer);
    if (shape.empty()) return b.row_bytes == 0 ? absl::OkStatus() : Bad(field, "packed weights cannot be batched");
    if (b.dtype != type) return Bad(field, "the call needs ", Name(static_cast<DType>(type)));
    int64_t elements = CheckedElements(shape);
    if (b.row_bytes > 0) {
      if (shape[0] != x_.shard_rows || elements != Elements(buffer) * x_.shard_rows) {
        return Bad(field, "the call needs ", ShapeString(shape), ", not the rows of a shard");
      }
    } else if (elements != Elements(buffer)) {
      return Bad(field, "the call needs ", ShapeString(shape));
    }
    return absl::OkStatus();
  }

  const fb::ExecutableT& x_;
  const std::string& name_;
  const fb::ProgramT* program_ = nullptr;
  const fb::SegmentT* constants_ = nullptr;
  uint64_t replica_rows_ = 0;
};

}  // namespace

absl::Status VerifyExecutable(const fb::ExecutableT& index, const std::string& name) {
  return IndexVerifier(index, name).Run();
}

}  // namespace tandem
