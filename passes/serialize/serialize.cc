// Writes what phases `memory` and `commands` left as attributes into the tables of runtime/format/index.td. Sections
// are made here: each exec.map_microbatches is a map section, and the ops between maps are the commands of a global
// one.
#include "passes/serialize/serialize.h"

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/ir/shape.h"
#include "graph/ir/signature.h"
#include "graph/ir/state.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Matchers.h"
#include "passes/base/pass_util.h"
#include "passes/exec/contraction.h"
#include "passes/exec/format_attributes.h"
#include "passes/exec/kernel_kind.h"
#include "passes/phases/commands/commands.h"
#include "passes/phases/memory/buffer_table.h"
#include "passes/serialize/constant_names.h"
#include "passes/serialize/gpu_schedule.h"
#include "passes/serialize/serialize_commands.h"
#include "passes/serialize/serialize_gpu.h"
#include "passes/target/target.h"

namespace tandem {
namespace {

std::vector<int64_t> Ints(llvm::ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

class Serializer {
 public:
  Serializer(mlir::ModuleOp module, const SerializeOptions& options)
      : module_(module),
        step_(StepFunction(module)),
        target_(TargetOf(module)),
        has_streams_(!target_->has_lanes()),
        options_(options),
        writer_(&index_) {}

  absl::StatusOr<HostTensor> Run(const std::vector<KernelCode>& kernels) {
    index_.version = 3;
    index_.producer = options_.producer;
    index_.key = options_.key;
    index_.mode = options_.mode;
    index_.machine_model = ConfigOf(module_).getMachineModelName().str();
    if (const exec::PartAttr part = ConfigOf(module_).getPart()) {
      index_.parameter_servers = static_cast<uint32_t>(part.getServers());
      index_.parameter_server = static_cast<int32_t>(part.getServer());
      for (auto placed :
           module_->getAttrOfType<mlir::ArrayAttr>(exec::kPlacementAttr).getAsRange<exec::PlacedPartAttr>()) {
        index_.placement.push_back(exec::ToTable(placed));
      }
    }
    // The reference interpreter runs the graph; with mixed_bfloat16 with the types that phase `precision` decides on.
    index_.reference_phase = ConfigOf(module_).getPrecision() == Precision::kMixedBfloat16 ? "precision" : "input";
    index_.target = options_.target;
    index_.target_name = options_.target_name;
    index_.instructions = options_.instructions;
    index_.warnings = options_.warnings;
    format::Program program;
    program.device_class = std::string(target_->device_class());
    WriteArenas(program);
    program.buffers = GetBuffers(module_);
    WriteSignature();
    WriteReplicas();
    if (has_streams_) WriteGpuImages(options_.images, index_, segments_);
    if (absl::Status s = WriteKernels(kernels); !s.ok()) return s;
    WriteConstants();
    if (absl::Status s = WriteSections(program); !s.ok()) return s;
    if (has_streams_) {
      if (absl::Status s = WriteLibraryPlans(options_.planner, program, segments_); !s.ok()) return s;
      program.gpu = MakeGpuSchedule(index_, program);
    }
    WriteOutputs();
    WriteMemoryReport(program);
    index_.programs.push_back(std::move(program));
    for (const auto& [phase, text] : options_.ir) segments_.push_back({format::SegmentKind::kIrText, phase, text});
    for (const auto& [name, value] : options_.constants) {
      // This constant is among the program's constants already, where readers find it.
      if (written_.contains(value)) continue;
      segments_.push_back({format::SegmentKind::kIrText, name, ConstantBytes(value)});
    }
    return PackExecutable(std::move(index_), segments_);
  }

 private:
  void WriteArenas(format::Program& program) {
    const exec::ArenasAttr arenas = GetArenas(module_);
    program.microbatch_bytes = arenas.getMicrobatch();
    program.lane_bytes = arenas.getLane();
    program.step_bytes = arenas.getStep();
    program.batch_bytes = arenas.getBatch();
    // Steps without a map (nothing batched) still have one lane per replica.
    index_.lanes = static_cast<uint32_t>(ConfigOf(module_).getReplicas());
    index_.rows_per_lane = index_.microbatch_rows = static_cast<uint32_t>(ConfigOf(module_).getBatch());
    for (auto map : step_.getOps<exec::MapMicrobatchesOp>()) {
      index_.lanes = map.getLanes();
      index_.rows_per_lane = map.getRowsPerLane();
      index_.microbatch_rows = map.getMicrobatchRows();
    }
  }

  // Writes inputs, scalars and variables, in the order of the arguments; then variables that are only written.
  void WriteSignature() {
    llvm::SmallVector<llvm::StringRef> variables;
    for (unsigned i = 0; i < step_.getNumArguments(); ++i) {
      mlir::Type type = step_.getArgument(i).getType();
      DType dtype = td::ToDType(mlir::cast<mlir::RankedTensorType>(type).getElementType());
      if (mlir::StringAttr name = td::InputOf(step_, i)) {
        format::Input input;
        input.name = name.str();
        input.dtype = dtype;
        input.shape = td::ToShape(type);
        if (auto it = options_.indices.find(input.name); it != options_.indices.end()) input.indices = it->second;
        index_.inputs.push_back(std::move(input));
      } else if (mlir::StringAttr name = td::ScalarOf(step_, i)) {
        format::Scalar scalar;
        scalar.name = name.str();
        scalar.dtype = dtype;
        index_.scalars.push_back(std::move(scalar));
      } else if (mlir::FlatSymbolRefAttr name = td::VariableOf(step_, i)) {
        variables.push_back(name.getValue());
      }
    }
    llvm::StringMap<bool> updated;
    for (unsigned i = 0; i < step_.getNumResults(); ++i) {
      if (mlir::FlatSymbolRefAttr name = td::UpdateOf(step_, i)) {
        updated[name.getValue()] = true;
        if (!llvm::is_contained(variables, name.getValue())) variables.push_back(name.getValue());
      }
    }
    for (llvm::StringRef name : variables) {
      auto declaration = module_.lookupSymbol<td::VariableOp>(name);
      format::Variable v;
      auto type = mlir::cast<mlir::RankedTensorType>(declaration.getType());
      v.name = name.str();
      v.dtype = td::ToDType(type.getElementType());
      v.shape = td::ToShape(type);
      v.trainable = declaration.getTrainable();
      v.slot_of = declaration.getSlotOf().value_or("").str();
      v.updated = updated.lookup(name);
      if (auto init = declaration.getInitializer()) {
        auto number = [&](unsigned i) { return mlir::cast<mlir::FloatAttr>((*init)[i]).getValueAsDouble(); };
        v.initializer.kind = static_cast<int8_t>(number(0));
        v.initializer.a = number(1);
        v.initializer.b = number(2);
      }
      index_.variables.push_back(std::move(v));
    }
  }

  void WriteReplicas() {
    for (auto replica : module_.getOps<exec::ReplicaOp>()) {
      format::Replica r;
      r.name = replica.getSymName().str();
      r.device = replica.getDevice().str();
      index_.replicas.push_back(std::move(r));
    }
  }

  absl::Status WriteKernels(const std::vector<KernelCode>& code) {
    for (const KernelCode& k : code) {
      auto function = module_.lookupSymbol<mlir::func::FuncOp>(k.name);
      if (!function) return absl::InternalError(absl::StrCat("code of an unknown kernel ", k.name));
      const exec::KernelKind kind = exec::GetKernelKind(function).value_or(exec::KernelKind::kOnce);
      format::Kernel kernel;
      kernel.name = k.name;
      kernel.symbol = k.symbol;
      if (has_streams_) {
        WriteGpuLaunch(k, index_, kernel);
      } else {
        kernel.segment = static_cast<uint32_t>(segments_.size());
        segments_.push_back({format::SegmentKind::kElfObject, k.name, k.elf_object});
      }
      kernel.skeleton = exec::stringifyKernelKind(kind).str();
      kernel.domain = exec::DomainOf(kind);
      for (mlir::Operation& op : function.getBody().front().without_terminator()) {
        kernel.ops.push_back(exec::ReportedName(&op));
        kernel.locations.push_back(writer_.Location(op.getLoc()));
        if (auto cost = mlir::dyn_cast<td::CostOp>(op)) kernel.flops_per_row += cost.getFlops();
      }
      WriteKernelArguments(function, kind, kernel);
      writer_.AddKernel(k.name, static_cast<uint32_t>(index_.kernels.size()));
      index_.kernels.push_back(std::move(kernel));
    }
    return absl::OkStatus();
  }

  // Writes what the code of `function` reads and writes, which follows from its type: see docs/developers/internals.md,
  // "The kernel ABI".
  static void WriteKernelArguments(mlir::func::FuncOp function, exec::KernelKind kind, format::Kernel& kernel) {
    const auto add = [&](mlir::Type type, std::vector<format::KernelArgument>& arguments) {
      format::KernelArgument argument;
      auto tensor = mlir::cast<mlir::RankedTensorType>(type);
      argument.dtype = td::ToDType(tensor.getElementType());
      if (!td::IsBatched(type)) {
        argument.elements = tensor.getNumElements();
      } else if (kernel.domain == format::Domain::kElements) {
        argument.extent = format::Extent::kRange;
      } else {
        argument.extent = format::Extent::kRow;
        argument.elements = mlir::ShapedType::getNumElements(tensor.getShape().drop_front());
      }
      arguments.push_back(std::move(argument));
    };
    for (mlir::Type type : function.getArgumentTypes()) add(type, kernel.inputs);
    for (mlir::Type type : function.getResultTypes()) add(type, kernel.outputs);
    // A launch of such a kernel always covers the whole of one tensor, so the count belongs to the kernel.
    if (kind == exec::KernelKind::kSplit) kernel.count = kernel.inputs[0].elements;
    if (kind == exec::KernelKind::kBlock) kernel.count = exec::RowsOfBlocks(function.getResultTypes()[0]);
  }

  // Writes all constants into one segment, at the offsets of their buffers. Constants of equal numbers may share an
  // offset.
  void WriteConstants() {
    std::map<int64_t, mlir::DenseElementsAttr> by_offset;
    const std::vector<format::Buffer> buffers = GetBuffers(module_);
    step_.walk([&](mlir::Operation* op) {
      mlir::DenseElementsAttr value;
      if (!mlir::matchPattern(op, mlir::m_Constant(&value))) return;
      written_.insert(value);
      by_offset[buffers[GetResultBuffers(op)[0]].offset] = value;
    });
    const auto size = static_cast<size_t>(GetArenas(module_).getConstant());
    if (size == 0) return;
    SegmentData segment{format::SegmentKind::kConstants, "constants", ""};
    size_t end = 0;
    const auto add = [&](absl::string_view piece) {
      segment.pieces.push_back(piece);
      end += piece.size();
    };
    const auto fill_to = [&](size_t offset) { add(made_.emplace_back(offset - end, '\0')); };
    for (const auto& [offset, value] : by_offset) {
      fill_to(static_cast<size_t>(offset));
      if (value.isSplat() || value.getElementType().isInteger(1)) {
        add(made_.emplace_back(ConstantBytes(value)));
      } else {
        const llvm::ArrayRef<char> raw = value.getRawData();
        add({raw.data(), raw.size()});
      }
    }
    fill_to(size);
    segments_.push_back(std::move(segment));
  }

  absl::Status WriteSections(format::Program& program) {
    program.flat = IsFlat(module_);
    for (mlir::Operation* op : CommandsOf(step_.getBody().front())) {
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op)) {
        if (absl::Status s = WriteMap(map, program); !s.ok()) return s;
        continue;
      }
      absl::StatusOr<format::Command> command = writer_.Write(op);
      if (!command.ok()) return command.status();
      format::Section& section = GlobalSection(program);
      command_sections_[op] = program.sections.size() - 1;
      command_numbers_[op] = static_cast<uint32_t>(section.commands.size());
      section.commands.push_back(*std::move(command));
    }
    // Block updates (gradients used in blocks of rows) name commands by their numbers, so they are written after all
    // commands.
    for (auto launch : step_.getOps<exec::LaunchOp>()) WriteBlockUpdate(launch, program);
    return absl::OkStatus();
  }

  void WriteBlockUpdate(exec::LaunchOp gradient, format::Program& program) {
    exec::BlockUpdateAttr attr = GetBlockUpdate(gradient);
    std::optional<BlockUpdate> found = attr ? FindBlockUpdate(gradient, attr) : std::nullopt;
    if (!found) return;
    format::BlockUpdate update;
    update.gradient = command_numbers_[gradient];
    update.check = command_numbers_[found->check];
    update.checked = static_cast<uint32_t>(attr.getCheck());
    update.update = command_numbers_[found->update];
    update.member = static_cast<uint32_t>(attr.getMember());
    update.argument = static_cast<uint32_t>(attr.getArgument());
    for (int64_t i : attr.getFetched().asArrayRef()) update.fetched.push_back(static_cast<uint32_t>(i));
    program.sections[command_sections_[gradient]].block_updates.push_back(std::move(update));
  }

  static format::Section& GlobalSection(format::Program& program) {
    if (program.sections.empty() || program.sections.back().kind != format::SectionKind::kGlobal) {
      program.sections.push_back(format::Section());
      program.sections.back().kind = format::SectionKind::kGlobal;
      program.sections.back().name = absl::StrCat("global_", program.sections.size() - 1);
    }
    return program.sections.back();
  }

  absl::Status WriteMap(exec::MapMicrobatchesOp map, format::Program& program) {
    format::Section section;
    section.kind = format::SectionKind::kMap;
    section.name = absl::StrCat("map_", program.sections.size());
    const Execution execution = GetExecution(map);
    section.run_inline = execution.run_inline;
    section.lanes_together = static_cast<uint32_t>(execution.lanes_together);
    for (mlir::Operation* op : CommandsOf(map.getBody().front())) {
      absl::StatusOr<format::Command> command = writer_.Write(op);
      if (!command.ok()) return command.status();
      section.commands.push_back(*std::move(command));
    }
    program.sections.push_back(std::move(section));
    for (exec::LaneSlotAttr slot : GetLaneSlots(map)) {
      program.lane_slots.push_back(exec::ToTable(slot));
    }
    return absl::OkStatus();
  }

  void WriteOutputs() {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    for (unsigned i = 0; i < step_.getNumResults(); ++i) {
      mlir::StringAttr name = td::OutputOf(step_, i);
      if (!name) continue;
      format::Output output;
      output.name = name.str();
      output.buffer = static_cast<uint32_t>(BufferOf(terminator->getOperand(i)));
      index_.outputs.push_back(std::move(output));
    }
  }

  void WriteMemoryReport(const format::Program& program) {
    for (exec::PeakAttr peak : GetPeaks(module_)) {
      format::MemoryReport report;
      report.space = exec::stringifySpace(peak.getSpace()).str();
      report.peak_bytes = peak.getBytes();
      for (auto buffer : peak.getLive().getAsRange<exec::LiveBufferAttr>()) {
        report.live_at_peak.push_back(exec::ToTable(buffer));
      }
      index_.debug.memory.push_back(std::move(report));
    }
  }

  mlir::ModuleOp module_;
  mlir::func::FuncOp step_;
  const std::shared_ptr<const Target> target_;
  const bool has_streams_;  // true: commands are issued to streams (GPUs); false: threads run them lane by lane
  const SerializeOptions& options_;
  format::Index index_;
  std::vector<SegmentData> segments_;
  // For ops outside of maps: the section of the op's command, and the command's number in it.
  llvm::DenseMap<mlir::Operation*, size_t> command_sections_;
  llvm::DenseMap<mlir::Operation*, uint32_t> command_numbers_;
  llvm::DenseSet<mlir::Attribute> written_;  // constants that have been written into the segment of constants
  // Bytes of the segment that are no attribute's raw data: splats, booleans, zeros in between.
  std::deque<std::string> made_;
  CommandWriter writer_;
};

}  // namespace

absl::StatusOr<HostTensor> SerializeExecutable(mlir::ModuleOp module, const std::vector<KernelCode>& kernels,
                                               const SerializeOptions& options) {
  return Serializer(module, options).Run(kernels);
}

}  // namespace tandem
