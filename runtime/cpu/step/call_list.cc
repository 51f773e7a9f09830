#include "runtime/cpu/step/call_list.h"

#include <cstring>

#include "runtime/collectives/reduction_tree.h"
#include "runtime/cpu/kernels/all_finite.h"

namespace tandem {

CallList::CallList(const StepState& state) : state_(state) {
  for (size_t d = 0; d < state.devices.size(); ++d) {
    first_rows_.push_back(static_cast<int64_t>(d) * state.lanes_per_replica * state.rows_per_lane);
  }
}

CallList::Call& CallList::AddCall(Kind kind) {
  calls_.push_back({kind, static_cast<int>(addresses_.size())});
  return calls_.back();
}

void CallList::AddAddress(const MicrobatchContext& context, int device, const Operand& o) {
  if (o.space == format::Space::kInput) {
    inputs_.push_back({static_cast<int>(addresses_.size()), device, o.index, context.row * o.row_bytes});
    addresses_.push_back(nullptr);
  } else {
    addresses_.push_back(context.Address(o));
  }
}

void CallList::AddKernel(KernelFunction function, int64_t begin, int64_t end, int64_t row_offset) {
  Call& call = AddCall(Kind::kKernel);
  call.function = function;
  call.begin = begin;
  call.end = end;
  call.row_offset = row_offset;
}

void CallList::AddReduce(format::ReduceKind kind, DType dtype, int device, uint64_t offset, uint8_t* out,
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
    // If a check fails, the checks directly behind it still run, because a command checks all of its values before it
    // reports that one is not finite.
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
