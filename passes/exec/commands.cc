// The ops that are commands: how each is written into an executable, and what passes need to know about it.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/gather.h"
#include "graph/ir/reference_util.h"
#include "passes/exec/dialect.h"
#include "passes/exec/kernel_kind.h"
#include "passes/exec/library_call.h"

#include "passes/exec/command.cc.inc"

namespace tandem::exec {
namespace {

int64_t ElementsIn(mlir::Type type) { return mlir::cast<mlir::RankedTensorType>(type).getNumElements(); }

int64_t ElementsOfRows(mlir::ValueRange values) {
  int64_t elements = 0;
  for (mlir::Value v : values) elements += td::RowElements(v.getType());
  return elements;
}

struct ScatterAddCommand : public CommandOp::ExternalModel<ScatterAddCommand, td::ScatterAddOp> {
  void writeCommand(mlir::Operation*, CommandContext&, format::Command& command) const {
    command.body = format::ScatterAdd();
  }
};

}  // namespace

void ExecDialect::registerCommands() { td::ScatterAddOp::attachInterface<ScatterAddCommand>(*getContext()); }

int64_t ElementsOfFirstResult(mlir::Operation* op) {
  return op->getNumResults() ? td::RowElements(op->getResult(0).getType()) : 0;
}

int64_t RowsOfBlocks(mlir::Type type) {
  auto shape = mlir::cast<mlir::RankedTensorType>(type);
  return shape.getNumElements() / shape.getShape().back();
}

// exec.launch

KernelKind LaunchOp::getKernelKind() {
  auto kernel = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(*this, getKernelAttr());
  return GetKernelKind(kernel).value_or(KernelKind::kOnce);
}

void LaunchOp::writeCommand(CommandContext& context, format::Command& command) {
  format::KernelLaunch body;
  body.kernel = context.KernelNumber(getKernelAttr());
  const KernelKind kind = getKernelKind();
  const bool by_operand = getNumResults() == 0 || kind == KernelKind::kSplit;
  const mlir::Type type = by_operand ? getOperand(0).getType() : getResult(0).getType();
  body.count = td::IsBatched(type) ? 0 : kind == KernelKind::kBlock ? RowsOfBlocks(type) : ElementsIn(type);
  command.body = body;
}

mlir::FlatSymbolRefAttr LaunchOp::getLaunchedKernel() { return getKernelAttr(); }

std::optional<int64_t> LaunchOp::getElementsTouched(int64_t, int64_t) {
  switch (DomainOf(getKernelKind())) {
    case format::Domain::kBlocks:
      return std::nullopt;
    case format::Domain::kElements:
      return 2 * std::max(getNumOperands() ? td::RowElements(getOperand(0).getType()) : 0,
                          td::RowElements(getResult(0).getType()));
    default:
      return 0;
  }
}

bool LaunchOp::isListable(int64_t) { return true; }

// exec.grouped_launch

void GroupedLaunchOp::writeCommand(CommandContext& context, format::Command& command) {
  const uint64_t members = getMembers(), n = getNumOperands() / members, m = getNumResults() / members;
  format::GroupedLaunch body;
  body.kernel = context.KernelNumber(getKernelAttr());
  body.num_args = static_cast<uint32_t>(n + m);
  for (uint64_t member = 0; member < members; ++member) {
    for (uint64_t i = 0; i < n; ++i) body.args.push_back(command.inputs[member * n + i]);
    for (uint64_t i = 0; i < m; ++i) body.args.push_back(command.outputs[member * m + i]);
    body.counts.push_back(ElementsIn(getResult(member * m).getType()));
  }
  command.body = std::move(body);
}

mlir::FlatSymbolRefAttr GroupedLaunchOp::getLaunchedKernel() { return getKernelAttr(); }
int64_t GroupedLaunchOp::getLaunchedMembers() { return static_cast<int64_t>(getMembers()); }

std::optional<int64_t> GroupedLaunchOp::getElementsTouched(int64_t, int64_t) {
  const auto members = static_cast<int64_t>(getMembers());
  const int64_t arguments = (getNumOperands() + getNumResults()) / members, results = getNumResults() / members;
  int64_t elements = 0;
  for (int64_t member = 0; member < members; ++member)
    elements += td::RowElements(getResult(member * results).getType());
  return elements * arguments;
}

bool GroupedLaunchOp::isListable(int64_t) { return true; }
int64_t GroupedLaunchOp::getListedCalls() { return static_cast<int64_t>(getMembers()); }

// exec.library_call

void LibraryCallOp::writeCommand(CommandContext&, format::Command& command) { command.body = LibraryCallOf(*this); }

mlir::OpOperand* LibraryCallOp::getOperandInPlace(unsigned result) {
  const EpilogueAttr epilogue = getEpilogue();
  return result == 0 && epilogue && epilogue.getResidual() ? &getOperation()->getOpOperands().back() : nullptr;
}

std::optional<int64_t> LibraryCallOp::getElementsTouched(int64_t, int64_t) { return std::nullopt; }

// exec.lane_reduce

void LaneReduceOp::writeCommand(CommandContext&, format::Command& command) {
  command.name = absl::StrCat("reduce_lanes/", format::Word(getKind()));
  command.body = format::LaneReduce{.kind = getKind()};
}

std::optional<int64_t> LaneReduceOp::getElementsTouched(int64_t, int64_t lanes) {
  return ElementsOfRows(getOperands()) * lanes;
}

bool LaneReduceOp::isListable(int64_t) { return true; }
int64_t LaneReduceOp::getListedCalls() { return getNumOperands(); }

// exec.all_reduce

void AllReduceOp::writeCommand(CommandContext& context, format::Command& command) {
  format::Collective collective;
  collective.seq = static_cast<uint32_t>(getSeq().value_or(0));
  collective.kind = absl::StrCat("all_reduce ", format::Word(getKind()));
  collective.bucket = static_cast<uint32_t>(getBucket().value_or(0));
  const mlir::ArrayAttr names = getNamesAttr();
  for (auto [i, v] : llvm::enumerate(getOperands())) {
    collective.dtype = td::ToDType(mlir::getElementTypeOrSelf(v.getType()));
    collective.bytes += ElementsIn(v.getType()) * SizeOf(collective.dtype);
    collective.tensors.push_back(names ? mlir::cast<mlir::StringAttr>(names[i]).str() : context.NameOf(v));
  }
  collective.algorithm = getAlgorithm().value_or("").str();
  if (auto group = getGroup()) collective.group.assign(group->begin(), group->end());
  format::AllReduce body;
  body.collective = context.AddCollective(std::move(collective));
  body.kind = getKind();
  body.checks = getChecks();
  command.body = body;
}

mlir::OpOperand* AllReduceOp::getOperandInPlace(unsigned result) { return &getOperation()->getOpOperand(result); }

std::optional<int64_t> AllReduceOp::getElementsTouched(int64_t replicas, int64_t) {
  return ElementsOfRows(getOperands()) * replicas;
}

bool AllReduceOp::isListable(int64_t replicas) { return replicas == 1; }

// exec.check_finite

void CheckFiniteOp::writeCommand(CommandContext&, format::Command& command) { command.body = format::CheckFinite(); }

bool CheckFiniteOp::mayEndStep() { return true; }

std::optional<int64_t> CheckFiniteOp::getElementsTouched(int64_t, int64_t) {
  int64_t elements = 0;
  for (mlir::Value v : getOperands()) {
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(v))) elements += td::RowElements(v.getType());
  }
  return elements;
}

bool CheckFiniteOp::isListable(int64_t) { return true; }
int64_t CheckFiniteOp::getListedCalls() { return getNumOperands(); }

// exec.copy

void CopyOp::writeCommand(CommandContext&, format::Command& command) { command.body = format::Copy(); }

bool CopyOp::isListable(int64_t) { return true; }

}  // namespace tandem::exec
