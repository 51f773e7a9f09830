// Writes what phases `memory` and `commands` left as attributes into the tables of runtime/executable.fbs. Sections are
// made here: each exec.map_microbatches is a map section, and the ops between maps are the commands of a global one.
#include "passes/serialize.h"

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
#include "passes/buffer_table.h"
#include "passes/commands/commands.h"
#include "passes/constant_names.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/gpu_schedule.h"
#include "passes/pass_util.h"
#include "passes/serialize_commands.h"
#include "passes/serialize_gpu.h"
#include "passes/target/target.h"

namespace tandem {
namespace {

// The dialect's enumerations have the numbers of the schema's.
static_assert(static_cast<int>(exec::Space::kConstant) == static_cast<int>(fb::Space::Constant));
static_assert(static_cast<int>(exec::ReduceKind::kMean) == static_cast<int>(fb::ReduceKind::Mean));
static_assert(static_cast<int>(exec::KernelDomain::kBlocks) == static_cast<int>(fb::Domain::Blocks));

std::vector<int64_t> Ints(llvm::ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

class Serializer {
 public:
  Serializer(mlir::ModuleOp module, const SerializeOptions& options)
      : module_(module),
        step_(StepFunction(module)),
        target_(TargetOf(module)),
        has_streams_(!target_->has_lanes()),
        options_(options),
        writer_(module, &index_) {}

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
        auto entry = std::make_unique<fb::PlacedPartT>();
        entry->variable = placed.getVariable().str();
        entry->server = static_cast<uint32_t>(placed.getServer());
        entry->first_row = placed.getFirstRow();
        entry->rows = placed.getRows();
        index_.placement.push_back(std::move(entry));
      }
    }
    // Phase `precision` says where values are rounded.
    index_.reference_phase = ConfigOf(module_).getPrecision() == Precision::kMixedBfloat16 ? "precision" : "input";
    index_.target = options_.target;
    index_.target_name = options_.target_name;
    index_.instructions = options_.instructions;
    index_.warnings = options_.warnings;
    index_.debug = std::make_unique<fb::DebugT>();
    auto program = std::make_unique<fb::ProgramT>();
    program->device_class = std::string(target_->device_class());
    WriteArenas(*program);
    WriteBuffers(*program);
    WriteSignature();
    WriteReplicas();
    if (has_streams_) WriteGpuImages(options_.images, index_, segments_);
    if (absl::Status s = WriteKernels(kernels); !s.ok()) return s;
    WriteConstants();
    if (absl::Status s = WriteSections(*program); !s.ok()) return s;
    if (has_streams_) {
      if (absl::Status s = WriteLibraryPlans(options_.planner, *program, segments_); !s.ok()) return s;
      program->gpu = std::make_unique<fb::GpuProgramT>(MakeGpuSchedule(index_, *program));
    }
    WriteOutputs();
    WriteMemoryReport(*program);
    index_.programs.push_back(std::move(program));
    for (const auto& [phase, text] : options_.ir) segments_.push_back({fb::SegmentKind::IrText, phase, text});
    for (const auto& [name, value] : options_.constants) {
      if (written_.contains(value)) continue;  // it is found there
      segments_.push_back({fb::SegmentKind::IrText, name, ConstantBytes(value)});
    }
    return PackExecutable(std::move(index_), segments_);
  }

 private:
  void WriteArenas(fb::ProgramT& program) {
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

  void WriteBuffers(fb::ProgramT& program) {
    for (const BufferInfo& info : GetBuffers(module_)) {
      auto b = std::make_unique<fb::BufferT>();
      b->name = info.name;
      b->space = static_cast<fb::Space>(info.space);
      b->index = static_cast<uint32_t>(info.index);
      b->offset = info.offset;
      b->bytes = info.bytes;
      b->row_bytes = info.row_bytes;
      b->dtype = static_cast<fb::DType>(td::ToDType(info.type.getElementType()));
      b->shape = td::ToShape(info.type);
      b->common = info.common;
      program.buffers.push_back(std::move(b));
    }
  }

  // Inputs, scalars and variables, in the order of the arguments; then variables that are only written.
  void WriteSignature() {
    llvm::SmallVector<llvm::StringRef> variables;
    for (unsigned i = 0; i < step_.getNumArguments(); ++i) {
      mlir::Type type = step_.getArgument(i).getType();
      DType dtype = td::ToDType(mlir::cast<mlir::RankedTensorType>(type).getElementType());
      if (mlir::StringAttr name = td::InputOf(step_, i)) {
        auto input = std::make_unique<fb::InputT>();
        input->name = name.str();
        input->dtype = static_cast<fb::DType>(dtype);
        input->shape = td::ToShape(type);
        if (auto it = options_.indices.find(input->name); it != options_.indices.end()) input->indices = it->second;
        index_.inputs.push_back(std::move(input));
      } else if (mlir::StringAttr name = td::ScalarOf(step_, i)) {
        auto scalar = std::make_unique<fb::ScalarT>();
        scalar->name = name.str();
        scalar->dtype = static_cast<fb::DType>(dtype);
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
      auto v = std::make_unique<fb::VariableT>();
      auto type = mlir::cast<mlir::RankedTensorType>(declaration.getType());
      v->name = name.str();
      v->dtype = static_cast<fb::DType>(td::ToDType(type.getElementType()));
      v->shape = td::ToShape(type);
      v->trainable = declaration.getTrainable();
      v->slot_of = declaration.getSlotOf().value_or("").str();
      v->updated = updated.lookup(name);
      v->initializer = std::make_unique<fb::InitializerT>();
      if (auto init = declaration.getInitializer()) {
        auto number = [&](unsigned i) { return mlir::cast<mlir::FloatAttr>((*init)[i]).getValueAsDouble(); };
        v->initializer->kind = static_cast<int8_t>(number(0));
        v->initializer->a = number(1);
        v->initializer->b = number(2);
      }
      index_.variables.push_back(std::move(v));
    }
  }

  void WriteReplicas() {
    for (auto replica : module_.getOps<exec::ReplicaOp>()) {
      auto r = std::make_unique<fb::ReplicaT>();
      r->name = replica.getSymName().str();
      r->device = replica.getDevice().str();
      index_.replicas.push_back(std::move(r));
    }
  }

  absl::Status WriteKernels(const std::vector<KernelCode>& code) {
    for (const KernelCode& k : code) {
      auto function = module_.lookupSymbol<mlir::func::FuncOp>(k.name);
      if (!function) return absl::InternalError(absl::StrCat("code of an unknown kernel ", k.name));
      const exec::KernelKind kind = exec::GetKernelKind(function).value_or(exec::KernelKind::kOnce);
      auto kernel = std::make_unique<fb::KernelT>();
      kernel->name = k.name;
      kernel->symbol = k.symbol;
      if (has_streams_) {
        WriteGpuLaunch(k, index_, *kernel);
      } else {
        kernel->segment = static_cast<uint32_t>(segments_.size());
        segments_.push_back({fb::SegmentKind::ElfObject, k.name, k.elf_object});
      }
      kernel->skeleton = exec::stringifyKernelKind(kind).str();
      kernel->domain = static_cast<fb::Domain>(exec::DomainOf(kind));
      for (mlir::Operation& op : function.getBody().front().without_terminator()) {
        kernel->ops.push_back(op.getName().getStringRef().str());
        kernel->locations.push_back(writer_.Location(op.getLoc()));
        if (auto cost = mlir::dyn_cast<td::CostOp>(op)) kernel->flops_per_row += cost.getFlops();
      }
      WriteKernelArguments(function, kind, *kernel);
      writer_.AddKernel(k.name, static_cast<uint32_t>(index_.kernels.size()));
      index_.kernels.push_back(std::move(kernel));
    }
    return absl::OkStatus();
  }

  // What the code of `function` reads and writes, by its type: see docs/developers/internals.md, "The kernel ABI".
  static void WriteKernelArguments(mlir::func::FuncOp function, exec::KernelKind kind, fb::KernelT& kernel) {
    const auto add = [&](mlir::Type type, std::vector<std::unique_ptr<fb::KernelArgumentT>>& arguments) {
      auto argument = std::make_unique<fb::KernelArgumentT>();
      auto tensor = mlir::cast<mlir::RankedTensorType>(type);
      argument->dtype = static_cast<fb::DType>(td::ToDType(tensor.getElementType()));
      if (!td::IsBatched(type)) {
        argument->elements = tensor.getNumElements();
      } else if (kernel.domain == fb::Domain::Elements) {
        argument->extent = fb::Extent::Range;
      } else {
        argument->extent = fb::Extent::Row;
        argument->elements = mlir::ShapedType::getNumElements(tensor.getShape().drop_front());
      }
      arguments.push_back(std::move(argument));
    };
    for (mlir::Type type : function.getArgumentTypes()) add(type, kernel.inputs);
    for (mlir::Type type : function.getResultTypes()) add(type, kernel.outputs);
    // Of these kinds every launch is for the whole of one tensor.
    if (kind == exec::KernelKind::kSplit) kernel.count = kernel.inputs[0]->elements;
    if (kind == exec::KernelKind::kBlock) kernel.count = RowsOfBlocks(function.getResultTypes()[0]);
  }

  // Constants lie in one segment, at the offsets of their buffers. Those of equal numbers may share one.
  void WriteConstants() {
    std::map<int64_t, mlir::DenseElementsAttr> by_offset;
    const std::vector<BufferInfo> buffers = GetBuffers(module_);
    step_.walk([&](mlir::Operation* op) {
      mlir::DenseElementsAttr value;
      if (!mlir::matchPattern(op, mlir::m_Constant(&value))) return;
      written_.insert(value);
      by_offset[buffers[GetResultBuffers(op)[0]].offset] = value;
    });
    const auto size = static_cast<size_t>(GetArenas(module_).getConstant());
    if (size == 0) return;
    SegmentData segment{fb::SegmentKind::Constants, "constants", ""};
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

  absl::Status WriteSections(fb::ProgramT& program) {
    program.flat = IsFlat(module_);
    for (mlir::Operation* op : CommandsOf(step_.getBody().front())) {
      if (auto map = mlir::dyn_cast<exec::MapMicrobatchesOp>(op)) {
        if (absl::Status s = WriteMap(map, program); !s.ok()) return s;
        continue;
      }
      absl::StatusOr<std::unique_ptr<fb::CommandT>> command = writer_.Write(op);
      if (!command.ok()) return command.status();
      fb::SectionT& section = GlobalSection(program);
      command_sections_[op] = program.sections.size() - 1;
      command_numbers_[op] = static_cast<uint32_t>(section.commands.size());
      section.commands.push_back(*std::move(command));
    }
    // Behind all commands, whose numbers they name.
    for (auto launch : step_.getOps<exec::LaunchOp>()) WriteBlockUpdate(launch, program);
    return absl::OkStatus();
  }

  void WriteBlockUpdate(exec::LaunchOp gradient, fb::ProgramT& program) {
    exec::BlockUpdateAttr attr = GetBlockUpdate(gradient);
    std::optional<BlockUpdate> found = attr ? FindBlockUpdate(gradient, attr) : std::nullopt;
    if (!found) return;
    auto update = std::make_unique<fb::BlockUpdateT>();
    update->gradient = command_numbers_[gradient];
    update->check = command_numbers_[found->check];
    update->checked = static_cast<uint32_t>(attr.getCheck());
    update->update = command_numbers_[found->update];
    update->member = static_cast<uint32_t>(attr.getMember());
    update->argument = static_cast<uint32_t>(attr.getArgument());
    for (int64_t i : attr.getFetched().asArrayRef()) update->fetched.push_back(static_cast<uint32_t>(i));
    program.sections[command_sections_[gradient]]->block_updates.push_back(std::move(update));
  }

  static fb::SectionT& GlobalSection(fb::ProgramT& program) {
    if (program.sections.empty() || program.sections.back()->kind != fb::SectionKind::Global) {
      program.sections.push_back(std::make_unique<fb::SectionT>());
      program.sections.back()->kind = fb::SectionKind::Global;
      program.sections.back()->name = absl::StrCat("global_", program.sections.size() - 1);
    }
    return *program.sections.back();
  }

  absl::Status WriteMap(exec::MapMicrobatchesOp map, fb::ProgramT& program) {
    auto section = std::make_unique<fb::SectionT>();
    section->kind = fb::SectionKind::Map;
    section->name = absl::StrCat("map_", program.sections.size());
    const Execution execution = GetExecution(map);
    section->run_inline = execution.run_inline;
    section->lanes_together = static_cast<uint32_t>(execution.lanes_together);
    for (mlir::Operation* op : CommandsOf(map.getBody().front())) {
      absl::StatusOr<std::unique_ptr<fb::CommandT>> command = writer_.Write(op);
      if (!command.ok()) return command.status();
      section->commands.push_back(*std::move(command));
    }
    program.sections.push_back(std::move(section));
    for (exec::LaneSlotAttr slot : GetLaneSlots(map)) {
      auto lane_slot = std::make_unique<fb::LaneSlotT>();
      lane_slot->buffer = static_cast<uint32_t>(slot.getBuffer());
      lane_slot->kind = static_cast<fb::ReduceKind>(slot.getKind());
      program.lane_slots.push_back(std::move(lane_slot));
    }
    return absl::OkStatus();
  }

  void WriteOutputs() {
    mlir::Operation* terminator = step_.getBody().front().getTerminator();
    for (unsigned i = 0; i < step_.getNumResults(); ++i) {
      mlir::StringAttr name = td::OutputOf(step_, i);
      if (!name) continue;
      auto output = std::make_unique<fb::OutputT>();
      output->name = name.str();
      output->buffer = static_cast<uint32_t>(BufferOf(terminator->getOperand(i)));
      index_.outputs.push_back(std::move(output));
    }
  }

  void WriteMemoryReport(const fb::ProgramT& program) {
    for (exec::PeakAttr peak : GetPeaks(module_)) {
      auto report = std::make_unique<fb::MemoryReportT>();
      report->space = exec::stringifySpace(peak.getSpace()).str();
      report->peak_bytes = peak.getBytes();
      for (auto buffer : peak.getLive().getAsRange<exec::LiveBufferAttr>()) {
        auto live = std::make_unique<fb::LiveBufferT>();
        live->name = buffer.getName().str();
        live->bytes = buffer.getBytes();
        report->live_at_peak.push_back(std::move(live));
      }
      index_.debug->memory.push_back(std::move(report));
    }
  }

  mlir::ModuleOp module_;
  mlir::func::FuncOp step_;
  const std::shared_ptr<const Target> target_;
  const bool has_streams_;  // commands are issued to streams, not run by threads that take lanes
  const SerializeOptions& options_;
  fb::ExecutableT index_;
  std::vector<SegmentData> segments_;
  // Of ops outside of maps: the section, and the command's number in it.
  llvm::DenseMap<mlir::Operation*, size_t> command_sections_;
  llvm::DenseMap<mlir::Operation*, uint32_t> command_numbers_;
  llvm::DenseSet<mlir::Attribute> written_;  // among the constants
  std::deque<std::string> made_;             // bytes of constants that are not stored so
  CommandWriter writer_;
};

}  // namespace

absl::StatusOr<HostTensor> SerializeExecutable(mlir::ModuleOp module, const std::vector<KernelCode>& kernels,
                                               const SerializeOptions& options) {
  return Serializer(module, options).Run(kernels);
}

}  // namespace tandem
