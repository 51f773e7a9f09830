#include "runtime/cpu/call_list.h"

#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "runtime/cpu/global_steps.h"
#include "runtime/reduction_tree.h"

namespace tandem {
namespace {

absl::Status NotListable(const Executable& executable, const std::string& step) {
  return WithExitCode(absl::DataLossError(absl::StrCat(executable.name(), ": the program is flat, but step ", step,
                                                       " cannot be in a list of calls")),
                      kExitBadData);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CallList>> CallList::Make(const Executable& executable, const StepState& state,
                                                         const StepPlan& plan) {
  auto list = absl::WrapUnique(new CallList(state));
  for (size_t d = 0; d < state.devices.size(); ++d) {
    list->first_rows_.push_back(static_cast<int64_t>(d) * state.lanes_per_replica * state.rows_per_lane);
  }
  for (const PlannedSection& section : plan.sections) {
    if (section.kind == fb::SectionKind::Map) {
      // Lanes of several shards add them up.
      if (state.rows_per_lane > state.shard_rows || !list->AddMap(section)) {
        return NotListable(executable, section.steps.empty() ? "" : section.steps[0].step->name);
      }
      continue;
    }
    for (const PlannedStep& step : section.steps) {
      if (!section.block_updates.empty() || !list->AddGlobal(step)) return NotListable(executable, step.step->name);
    }
  }
  return list;
}

CallList::Call& CallList::AddCall(Kind kind) {
  calls_.push_back({kind, static_cast<int>(addresses_.size())});
  return calls_.back();
}

void CallList::AddAddress(const ShardContext& context, int device, const Operand& o) {
  if (o.space == fb::Space::Input) {
    inputs_.push_back({static_cast<int>(addresses_.size()), device, o.index, context.row * o.row_bytes});
    addresses_.push_back(nullptr);
  } else {
    addresses_.push_back(context.Address(o));
  }
}

bool CallList::AddMap(const PlannedSection& section) {
  if (!section.run_inline) return false;
  for (const PlannedStep& step : section.steps) {
    if (step.kind != fb::StepBody::KernelLaunch) return false;
  }
  ShardContext context;
  context.constants = state_.constants;
  context.shard = state_.threads[0].shard.data();
  for (int device = 0; device < static_cast<int>(state_.devices.size()); ++device) {
    context.device = &state_.devices[device];
    for (int lane = 0; lane < state_.lanes_per_replica; ++lane) {
      context.row = lane * state_.rows_per_lane;
      context.lane = state_.LaneSlot(device, lane);
      for (const PlannedStep& step : section.steps) {
        Call& call = AddCall(Kind::kKernel);
        call.function = step.function;
        call.end = step.domain == fb::Domain::Rows ? state_.rows_per_lane : step.count;
        call.row_offset = first_rows_[device] + context.row;
        for (const Operand& o : step.inputs) AddAddress(context, device, o);
        for (const Operand& o : step.outputs) AddAddress(context, device, o);
      }
    }
  }
  return true;
}

bool CallList::AddGlobal(const PlannedStep& step) {
  if (step.kind == fb::StepBody::AllReduce && state_.devices.size() == 1) return true;
  if (!step.step->run_inline) return false;
  switch (step.kind) {
    case fb::StepBody::LaneReduce:
    case fb::StepBody::KernelLaunch:
    case fb::StepBody::GroupedLaunch:
    case fb::StepBody::CheckFinite:
    case fb::StepBody::Copy:
      break;
    default:
      return false;
  }
  for (int device = 0; device < static_cast<int>(state_.devices.size()); ++device) AddPieces(step, device);
  return true;
}

void CallList::AddPieces(const PlannedStep& step, int device) {
  ShardContext context;
  context.device = &state_.devices[device];
  context.constants = state_.constants;
  auto element = [&](const Operand& o, int64_t i) { return context.Address(o) + i * SizeOf(o.dtype); };
  for (const Piece& piece : step.work.pieces) {
    if (step.kind == fb::StepBody::KernelLaunch || step.kind == fb::StepBody::GroupedLaunch) {
      Call& call = AddCall(Kind::kKernel);
      call.function = step.function;
      call.begin = piece.begin;
      call.end = piece.end;
      if (step.kind == fb::StepBody::KernelLaunch) {
        for (const Operand& o : step.inputs) AddAddress(context, device, o);
        for (const Operand& o : step.outputs) AddAddress(context, device, o);
      } else {
        const Operand* operands = &step.group_args[static_cast<size_t>(piece.item) * step.num_args];
        for (int i = 0; i < step.num_args; ++i) AddAddress(context, device, operands[i]);
      }
    } else if (step.kind == fb::StepBody::LaneReduce) {
      const Operand& in = step.inputs[piece.item];
      Call& call = AddCall(Kind::kReduce);
      call.num_leaves = state_.lanes_per_replica;
      call.end = piece.end - piece.begin;
      call.reduce = step.reduce;
      call.dtype = in.dtype;
      for (int lane = 0; lane < state_.lanes_per_replica; ++lane) {
        addresses_.push_back(state_.LaneSlot(device, lane) + in.offset + piece.begin * SizeOf(in.dtype));
      }
      addresses_.push_back(element(step.outputs[piece.item], piece.begin));
    } else if (step.kind == fb::StepBody::CheckFinite) {
      const Operand& o = step.inputs[piece.item];
      Call& call = AddCall(Kind::kCheckFinite);
      call.end = piece.end - piece.begin;
      call.dtype = o.dtype;
      addresses_.push_back(element(o, piece.begin));
    } else {
      Call& call = AddCall(Kind::kCopy);
      call.end = static_cast<int64_t>(step.outputs[0].bytes());
      AddAddress(context, device, step.inputs[0]);
      AddAddress(context, device, step.outputs[0]);
    }
  }
}

bool CallList::Fits() const {
  for (size_t d = 0; d < state_.devices.size(); ++d) {
    if (state_.devices[d].rows != state_.lanes_per_replica * state_.rows_per_lane) return false;
    if (state_.devices[d].first_row != first_rows_[d]) return false;
  }
  return true;
}

bool CallList::Run() {
  for (const InputAddress& i : inputs_) {
    addresses_[i.at] = const_cast<uint8_t*>(state_.devices[i.device].inputs[i.input]) + i.offset;
  }
  bool finite = true;
  for (const Call& call : calls_) {
    void** addresses = &addresses_[call.first];
    // A step checks all of its values before it says that one is not finite.
    if (!finite && call.kind != Kind::kCheckFinite) return false;
    switch (call.kind) {
      case Kind::kKernel:
        call.function(addresses, call.begin, call.end, call.row_offset);
        break;
      case Kind::kReduce:
        TreeReduce(call.reduce, call.dtype, {addresses, static_cast<size_t>(call.num_leaves)},
                   addresses[call.num_leaves], call.end);
        break;
      case Kind::kCheckFinite:
        finite = AllFinite(call.dtype, addresses[0], call.end) && finite;
        break;
      case Kind::kCopy:
        std::memcpy(addresses[1], addresses[0], call.end);
    }
  }
  return finite;
}

}  // namespace tandem
