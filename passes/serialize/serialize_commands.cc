#include "passes/serialize/serialize_commands.h"

#include "absl/strings/str_cat.h"
#include "passes/base/pass_util.h"
#include "passes/exec/dialect.h"
#include "passes/phases/commands/commands.h"
#include "passes/phases/memory/buffer_table.h"

namespace tandem {
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
  auto written = mlir::dyn_cast<exec::CommandOp>(op);
  if (!written) return absl::InternalError(absl::StrCat("no command for the op ", op->getName().getStringRef().str()));
  written.writeCommand(*this, command);
  return command;
}

uint32_t CommandWriter::KernelNumber(mlir::FlatSymbolRefAttr kernel) const {
  return kernels_.lookup(kernel.getValue());
}

std::string CommandWriter::NameOf(mlir::Value value) const { return ValueName(value); }

uint32_t CommandWriter::AddCollective(format::Collective collective) {
  index_->collectives.push_back(std::move(collective));
  return static_cast<uint32_t>(index_->collectives.size() - 1);
}

}  // namespace tandem
