#include "runtime/cpu/call_list.h"

#include <cstring>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "runtime/cpu/all_finite.h"
#include "runtime/cpu/global_commands.h"
#include "runtime/reduction_tree.h"

namespace tandem {
namespace {

absl::Status NotListable(const Executable& executable, const std::string& command) {
  return WithExitCode(absl::DataLossError(absl::StrCat(executable.name(), ": the program is flat, but command ",
                                                       command, " cannot be in a list of calls")),
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
      // Lanes of several microbatches add them up.
      if (state.rows_per_lane > state.microbatch_rows || !list->AddMap(section)) {
        return NotListable(executable, section.commands.empty() ? "" : section.commands[0]->table().name);
      }
      continue;
    }
    for (const std::unique_ptr<CpuCommand>& command : section.commands) {
      if (!section.block_updates.empty() || !list->AddGlobal(*command)) {
        return NotListable(executable, command->table().name);
      }
    }
  }
  return list;
}

CallList::Call& CallList::AddCall(Kind kind) {
  calls_.push_back({kind, static_cast<int>(addresses_.size())});
  return calls_.back();
}

void CallList::AddAddress(const MicrobatchContext& context, int device, const Operand& o) {
  if (o.space == fb::Space::Input) {
    inputs_.push_back({static_cast<int>(addresses_.size()), device, o.index, context.row * o.row_bytes});
    addresses_.push_back(nullptr);
  } else {
    addresses_.push_back(context.Address(o));
  }
}

bool CallList::AddMap(const PlannedSection& section) {
  if (!section.run_inline) return false;
  MicrobatchContext context;
  context.constants = state_.constants;
  context.microbatch = state_.threads[0].microbatch.data();
  for (int device = 0; device < static_cast<int>(state_.devices.size()); ++device) {
    context.device = &state_.devices[device];
    for (int lane = 0; lane < state_.lanes_per_replica; ++lane) {
      context.row = lane * state_.rows_per_lane;
      context.lane = state_.LaneSlot(device, lane);
      for (const std::unique_ptr<CpuCommand>& command : section.commands) {
        if (!command->AddRowCalls(*this, context, device, first_rows_[device] + context.row)) return false;
      }
    }
  }
  return true;
}

bool CallList::AddGlobal(const CpuCommand& command) {
  if (command.is_for_all_devices() && state_.devices.size() == 1) return true;
  if (!command.table().run_inline || !command.is_listable()) return false;
  MicrobatchContext context;
  context.constants = state_.constants;
  for (int device = 0; device < DevicesThatRun(state_, command); ++device) {
    context.device = &state_.devices[device];
    for (const Piece& piece : command.work.pieces) command.AddCalls(*this, context, device, piece);
  }
  return true;
}

void CallList::AddKernel(KernelFunction function, int64_t begin, int64_t end, int64_t row_offset) {
  Call& call = AddCall(Kind::kKernel);
  call.function = function;
  call.begin = begin;
  call.end = end;
  call.row_offset = row_offset;
}

void CallList::AddReduce(fb::ReduceKind kind, DType dtype, int device, uint64_t offset, uint8_t* out,
                         int64_t elements) {
  Call& call = AddCall(Kind::kReduce);
  call.num_leaves = state_.lanes_per_replica;
  call.end = elements;
  call.reduce = kind;
  call.dtype = dtype;
  for (int lane = 0; lane < state_.lanes_per_replica; ++lane) {
    addresses_.push_back(state_.LaneSlot(device, lane) + offset);
  }
  addresses_.push_back(out);
}

void CallList::AddCheckFinite(DType dtype, uint8_t* data, int64_t elements) {
  Call& call = AddCall(Kind::kCheckFinite);
  call.end = elements;
  call.dtype = dtype;
  addresses_.push_back(data);
}

void CallList::AddCopy(int64_t bytes) { AddCall(Kind::kCopy).end = bytes; }

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
    // A command checks all of its values before it says that one is not finite.
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
