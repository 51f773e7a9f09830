#include "passes/serialize_commands.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/gather.h"
#include "passes/buffer_table.h"
#include "passes/commands/commands.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/library_call_op.h"
#include "passes/pass_util.h"

namespace tandem {
namespace {

int64_t Elements(mlir::Type type) { return mlir::cast<mlir::RankedTensorType>(type).getNumElements(); }

}  // namespace

uint32_t CommandWriter::Location(mlir::Location loc) {
  std::string file;
  int line = 0;
  LocationFileLine(loc, &file, &line);
  auto key = std::make_tuple(file, static_cast<uint32_t>(line), LocationName(loc));
  auto [it, added] = locations_.try_emplace(key, static_cast<uint32_t>(index_->debug.locations.size()));
  if (added) {
    format::Location row;
    std::tie(row.file, row.line, row.name) = key;
    index_->debug.locations.push_back(std::move(row));
  }
  return it->second;
}

int64_t RowsOfBlocks(mlir::Type type) {
  auto shape = mlir::cast<mlir::RankedTensorType>(type);
  return shape.getNumElements() / shape.getShape().back();
}

absl::StatusOr<format::Command> CommandWriter::Write(mlir::Operation* op) {
  format::Command command;
  command.name = LocationName(op->getLoc());
  if (command.name.empty()) command.name = op->getName().getStringRef().str();
  command.location = Location(op->getLoc());
  for (mlir::Value v : op->getOperands()) command.inputs.push_back(static_cast<uint32_t>(BufferOf(v)));
  for (mlir::Value v : op->getResults()) command.outputs.push_back(static_cast<uint32_t>(BufferOf(v)));
  const Execution execution = GetExecution(op);
  command.invariant = execution.invariant;
  command.run_inline = execution.run_inline;
  command.together = static_cast<uint32_t>(execution.together);
  command.joint = execution.joint;
  command.overlap = static_cast<uint32_t>(execution.overlap);
  if (auto launch = mlir::dyn_cast<exec::LaunchOp>(op)) {
    format::KernelLaunch body;
    body.kernel = kernels_.lookup(launch.getKernel());
    mlir::Type type = op->getNumResults() ? op->getResult(0).getType() : op->getOperand(0).getType();
    auto kernel = module_.lookupSymbol<mlir::func::FuncOp>(launch.getKernel());
    const std::optional<exec::KernelKind> kind = exec::GetKernelKind(kernel);
    if (kind == exec::KernelKind::kSplit) type = op->getOperand(0).getType();
    body.count = td::IsBatched(type) ? 0 : Elements(type);
    if (kind == exec::KernelKind::kBlock) body.count = RowsOfBlocks(type);
    command.body = std::move(body);
  } else if (mlir::isa<exec::GroupedLaunchOp>(op)) {
    WriteGroupedLaunch(op, command);
  } else if (auto call = mlir::dyn_cast<exec::LibraryCallOp>(op)) {
    command.body = LibraryCallOf(call);
  } else if (auto reduce = mlir::dyn_cast<exec::LaneReduceOp>(op)) {
    command.name = absl::StrCat("reduce_lanes/", exec::stringifyReduceKind(reduce.getKind()).str());
    format::LaneReduce body;
    body.kind = reduce.getKind();
    command.body = std::move(body);
  } else if (mlir::isa<exec::AllReduceOp>(op)) {
    WriteAllReduce(op, command);
  } else if (mlir::isa<exec::CheckFiniteOp>(op)) {
    command.body = format::CheckFinite();
  } else if (mlir::isa<td::ScatterAddOp>(op)) {
    command.body = format::ScatterAdd();
  } else if (mlir::isa<exec::CopyOp>(op)) {
    command.body = format::Copy();
  } else {
    return absl::InternalError(absl::StrCat("no command for the op ", op->getName().getStringRef().str()));
  }
  return command;
}

void CommandWriter::WriteGroupedLaunch(mlir::Operation* op, format::Command& command) {
  auto launch = mlir::cast<exec::GroupedLaunchOp>(op);
  auto kernel = module_.lookupSymbol<mlir::func::FuncOp>(launch.getKernel());
  unsigned n = kernel.getNumArguments(), m = kernel.getNumResults();
  format::GroupedLaunch body;
  body.kernel = kernels_.lookup(launch.getKernel());
  body.num_args = n + m;
  for (uint64_t member = 0; member < launch.getMembers(); ++member) {
    for (unsigned i = 0; i < n; ++i) body.args.push_back(command.inputs[member * n + i]);
    for (unsigned i = 0; i < m; ++i) body.args.push_back(command.outputs[member * m + i]);
    body.counts.push_back(Elements(launch.getResult(member * m).getType()));
  }
  command.body = std::move(body);
}

void CommandWriter::WriteAllReduce(mlir::Operation* op, format::Command& command) {
  auto all_reduce = mlir::cast<exec::AllReduceOp>(op);
  format::Collective collective;
  collective.seq = static_cast<uint32_t>(all_reduce.getSeq().value_or(0));
  collective.kind = absl::StrCat("all_reduce ", exec::stringifyReduceKind(all_reduce.getKind()).str());
  collective.bucket = static_cast<uint32_t>(all_reduce.getBucket().value_or(0));
  const mlir::ArrayAttr names = all_reduce.getNamesAttr();
  for (auto [i, v] : llvm::enumerate(all_reduce.getOperands())) {
    auto type = mlir::cast<mlir::RankedTensorType>(v.getType());
    collective.bytes += StaticBytes(type);
    collective.dtype = td::ToDType(type.getElementType());
    collective.tensors.push_back(names ? mlir::cast<mlir::StringAttr>(names[i]).str() : ValueName(v));
  }
  collective.algorithm = all_reduce.getAlgorithm().value_or("").str();
  if (auto group = all_reduce.getGroup()) collective.group.assign(group->begin(), group->end());
  format::AllReduce body;
  body.collective = static_cast<uint32_t>(index_->collectives.size());
  body.kind = all_reduce.getKind();
  body.checks = all_reduce.getChecks();
  index_->collectives.push_back(std::move(collective));
  command.body = std::move(body);
}

}  // namespace tandem
