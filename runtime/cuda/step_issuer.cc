#include "runtime/cuda/step_issuer.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/cuda/group_table.h"
#include "runtime/gpu_launch.h"

namespace tandem {
namespace {

int64_t Elements(const fb::BufferT& b) {  // of a row when batched
  int64_t n = 1;
  for (size_t i = b.row_bytes > 0 ? 1 : 0; i < b.shape.size(); ++i) n *= b.shape[i];
  return n;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StepIssuer>> StepIssuer::Create(const Executable& executable, const SegmentPlan& plan,
                                                               const ReplicaMemory& memory, DeviceProgram& program) {
  auto issuer = std::unique_ptr<StepIssuer>(new StepIssuer(executable, plan, memory, program));
  TD_RETURN_IF_ERROR(issuer->Prepare());
  return issuer;
}

absl::Status StepIssuer::Prepare() {
  launches_.resize(plan_.steps.size());
  CUdeviceptr tables = memory_.group_tables();
  for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
    const fb::StepT& step = *plan_.steps[i];
    auto fail = [&](const char* why) {
      return absl::FailedPreconditionError(absl::StrCat(executable_.name(), ": step ", step.name, ": ", why));
    };
    if (const auto* launch = step.body.AsKernelLaunch()) {
      if (index_.kernels[launch->kernel]->gpu == nullptr) return fail("its kernel was not compiled for a GPU");
      AddLaunch(i, launch->kernel, step.inputs, step.outputs, launch->count);
    } else if (const auto* group = step.body.AsGroupedLaunch()) {
      if (index_.kernels[group->kernel]->gpu == nullptr) return fail("its kernel was not compiled for a GPU");
      TD_RETURN_IF_ERROR(AddGroup(i, *group, tables));
    } else if (step.body.type == fb::StepBody::LibraryCall && plan_.guarded[i]) {
      for (uint32_t b : step.outputs) {
        if (Buffer(b).space == fb::Space::Variable) return fail("a library call cannot be held back by a finite check");
      }
    }
  }
  return absl::OkStatus();
}

void StepIssuer::AddLaunch(uint32_t step, uint32_t kernel, const std::vector<uint32_t>& reads,
                           const std::vector<uint32_t>& writes, uint64_t count) {
  Launch launch;
  launch.kernel = kernel;
  launch.count = static_cast<int64_t>(count);
  launch.reads = reads;
  launch.writes = writes;
  for (const auto* buffers : {&reads, &writes}) {
    for (uint32_t b : *buffers) launch.values.push_back(memory_.Address(Buffer(b)));
  }
  for (uint64_t v : {uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{memory_.workspace()}, uint64_t{Guard(step)}}) {
    launch.values.push_back(v);
  }
  for (uint64_t& v : launch.values) launch.pointers.push_back(&v);
  launches_[step].push_back(std::move(launch));  // the values stay where they are
}

absl::Status StepIssuer::AddGroup(uint32_t step, const fb::GroupedLaunchT& launch, CUdeviceptr& free) {
  // Without the step's outputs, all of a group's arguments count as written.
  const std::set<uint32_t> outputs(plan_.steps[step]->outputs.begin(), plan_.steps[step]->outputs.end());
  auto written = [&](const std::vector<uint32_t>& args) {
    std::vector<uint32_t> writes;
    for (uint32_t b : args) {
      if (outputs.empty() || outputs.count(b) > 0) writes.push_back(b);
    }
    return writes;
  };
  if (program_.functions_[launch.kernel].group == nullptr) {
    for (size_t m = 0; m < launch.counts.size(); ++m) {
      auto first = launch.args.begin() + m * launch.num_args;
      const std::vector<uint32_t> args(first, first + launch.num_args);
      AddLaunch(step, launch.kernel, {}, args, launch.counts[m]);
      if (outputs.empty()) continue;
      launches_[step].back().reads = args;
      launches_[step].back().writes = written(args);
    }
    return absl::OkStatus();
  }
  const GroupTable table = MakeGroupTable(*index_.kernels[launch.kernel]->gpu, launch,
                                          [&](uint32_t b) { return memory_.Address(Buffer(b)); });
  Group& group = groups_[step];
  group.kernel = launch.kernel;
  group.grid = static_cast<unsigned>(table.blocks.size());
  group.table_bytes = table.members_bytes() + table.blocks_bytes();
  group.values = {free, free + table.members_bytes(), Guard(step)};
  group.writes = written(launch.args);
  if (!outputs.empty()) group.reads = launch.args;
  free += GroupTableBytes(table.members_bytes(), table.blocks.size());
  TD_RETURN_IF_ERROR(memory_.device().Upload(group.values[0], table.members.data(), table.members_bytes()));
  return memory_.device().Upload(group.values[1], table.blocks.data(), table.blocks_bytes());
}

absl::Status StepIssuer::Issue(uint32_t number, int64_t rows, int64_t first_row, CUstream stream) {
  // In a map section a replica without rows does nothing; what it would have added up is nothing.
  absl::Status status =
      plan_.map[number] && rows == 0 ? ClearOutputs(number, stream) : IssueStep(number, rows, first_row, stream);
  return Annotate(status, absl::StrCat(plan_.steps[number]->name, ": "));
}

absl::Status StepIssuer::IssueStep(uint32_t number, int64_t rows, int64_t first_row, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  switch (step.body.type) {
    case fb::StepBody::KernelLaunch:
    case fb::StepBody::GroupedLaunch:
      if (auto group = groups_.find(number); group != groups_.end()) return IssueGroup(group->second, rows, stream);
      for (Launch& launch : launches_[number]) {
        TD_RETURN_IF_ERROR(IssueLaunch(launch, plan_.map[number], rows, first_row, stream));
      }
      return absl::OkStatus();
    case fb::StepBody::LibraryCall:
      return IssueLibrary(number, rows, stream);
    case fb::StepBody::LaneReduce:
      return IssueLaneReduce(number, rows, stream);
    case fb::StepBody::CheckFinite:
      for (uint32_t b : step.inputs) {
        const fb::BufferT& buffer = Buffer(b);
        const int64_t n = Elements(buffer) * (buffer.row_bytes > 0 ? rows : 1);
        TD_RETURN_IF_ERROR(
            memory_.device().kernels().CheckFinite(buffer.dtype, memory_.Address(buffer), n, memory_.flag(), stream));
      }
      return absl::OkStatus();
    case fb::StepBody::Copy:
      return IssueCopy(number, rows, stream);
    case fb::StepBody::ScatterAdd:
      return IssueScatterAdd(number, rows, stream);
    default:
      return absl::InternalError("not a step of one replica");
  }
}

void StepIssuer::Declare(const std::vector<uint32_t>& reads, const std::vector<uint32_t>& writes, int64_t rows,
                         uint64_t workspace, bool guarded, std::vector<DeviceAccess> accesses) const {
  if (!AccessesAreWatched()) return;
  for (uint32_t b : reads) accesses.push_back({memory_.Address(Buffer(b)), Bytes(Buffer(b), rows), false});
  for (uint32_t b : writes) {
    // Scalars and constants among a group's arguments are only read.
    const fb::Space space = Buffer(b).space;
    const bool write = space != fb::Space::Scalar && space != fb::Space::Constant;
    accesses.push_back({memory_.Address(Buffer(b)), Bytes(Buffer(b), rows), write});
  }
  if (workspace > 0) accesses.push_back({memory_.workspace(), workspace, true});
  if (guarded) accesses.push_back({memory_.flag(), 4, false});
  DeclareAccesses(accesses);
}

absl::Status StepIssuer::IssueLaunch(Launch& launch, bool map, int64_t rows, int64_t first_row, CUstream stream) {
  const fb::KernelT& kernel = *index_.kernels[launch.kernel];
  const fb::GpuLaunchT& gpu = *kernel.gpu;
  const DeviceProgram::Functions& functions = program_.functions_[launch.kernel];
  const int64_t end = kernel.domain == fb::Domain::Rows ? rows : kernel.domain == fb::Domain::Once ? 1 : launch.count;
  const size_t n = launch.values.size();
  launch.values[n - 4] = end;
  launch.values[n - 3] = map ? first_row : 0;
  const uint64_t grid = GpuGrid(gpu, end);
  if (grid > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.symbol, " would need ", grid, " blocks"));
  }
  const bool guarded = launch.values[n - 1] != 0;
  Declare(launch.reads, launch.writes, rows, gpu.scratch_bytes, guarded);
  TD_CU(driver(), cuLaunchKernel(functions.main, static_cast<unsigned>(grid), 1, 1, gpu.block, 1, 1, gpu.shared_bytes,
                                 stream, launch.pointers.data(), nullptr));
  if (functions.finish == nullptr) return absl::OkStatus();
  Declare(launch.reads, launch.writes, rows, gpu.scratch_bytes, guarded);
  TD_CU(driver(), cuLaunchKernel(functions.finish, std::max<uint32_t>(1, gpu.finish_grid), 1, 1, gpu.finish_block, 1, 1,
                                 0, stream, launch.pointers.data(), nullptr));
  return absl::OkStatus();
}

absl::Status StepIssuer::IssueGroup(Group& group, int64_t rows, CUstream stream) {
  const fb::GpuLaunchT& gpu = *index_.kernels[group.kernel]->gpu;
  Declare(group.reads, group.writes, rows, 0, group.values[2] != 0, {{group.values[0], group.table_bytes, false}});
  void* pointers[] = {&group.values[0], &group.values[1], &group.values[2]};
  TD_CU(driver(), cuLaunchKernel(program_.functions_[group.kernel].group, group.grid, 1, 1, gpu.block, 1, 1,
                                 gpu.shared_bytes, stream, pointers, nullptr));
  return absl::OkStatus();
}

// The call takes all rows that it was compiled for. Those behind the valid ones hold anything: they are cleared where
// the call adds up rows, and not looked at elsewhere.
absl::Status StepIssuer::IssueLibrary(uint32_t number, int64_t rows, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  const fb::LibraryCallT& call = *step.body.AsLibraryCall();
  const int64_t all = index_.shard_rows;
  absl::InlinedVector<CUdeviceptr, 4> inputs, outputs;
  for (uint32_t b : step.inputs) {
    const fb::BufferT& buffer = Buffer(b);
    const CUdeviceptr address = memory_.Address(buffer);
    inputs.push_back(address);
    const bool reduces = call.reduces_batch || call.primitive == fb::Primitive::Conv2DFilterGrad;
    if (!plan_.map[number] || !reduces || buffer.row_bytes == 0 || rows == all) continue;
    TD_CU(driver(), cuMemsetD8Async(address + rows * buffer.row_bytes, 0, (all - rows) * buffer.row_bytes, stream));
  }
  for (uint32_t b : step.outputs) outputs.push_back(memory_.Address(Buffer(b)));
  PreparedCall& prepared = *program_.calls_[number];
  Declare(step.inputs, step.outputs, all, prepared.workspace_bytes(), false);
  return prepared.Enqueue(inputs, outputs, memory_.workspace(), stream);
}

absl::Status StepIssuer::IssueCopy(uint32_t number, int64_t rows, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  const fb::BufferT &from = Buffer(step.inputs[0]), &to = Buffer(step.outputs[0]);
  const uint64_t bytes = to.row_bytes > 0 ? rows * to.row_bytes : Elements(to) * SizeOf(static_cast<DType>(to.dtype));
  const CUdeviceptr source = memory_.Address(from), target = memory_.Address(to);
  if (source == target || bytes == 0) return absl::OkStatus();
  if (plan_.guarded[number]) {
    return memory_.device().kernels().Copy(target, source, bytes, memory_.flag(), stream);
  }
  TD_CU(driver(), cuMemcpyDtoDAsync_v2(target, source, bytes, stream));
  return absl::OkStatus();
}

// There is one lane: its sum is what it holds, or nothing.
absl::Status StepIssuer::IssueLaneReduce(uint32_t number, int64_t rows, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  if (rows == 0) return ClearOutputs(number, stream);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const fb::BufferT &from = Buffer(step.inputs[i]), &to = Buffer(step.outputs[i]);
    TD_CU(driver(), cuMemcpyDtoDAsync_v2(memory_.Address(to), memory_.Address(from),
                                         Elements(to) * SizeOf(static_cast<DType>(to.dtype)), stream));
  }
  return absl::OkStatus();
}

absl::Status StepIssuer::IssueScatterAdd(uint32_t number, int64_t rows, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  const fb::BufferT &updates = Buffer(step.inputs[0]), &indices = Buffer(step.inputs[1]);
  const fb::BufferT& table = Buffer(step.outputs[0]);
  BuiltinKernels::Scatter s;
  s.updates = memory_.Address(updates);
  s.indices = memory_.Address(indices);
  s.table = memory_.Address(table);
  s.dtype = updates.dtype;
  s.index_dtype = indices.dtype;
  s.rows = table.shape[0];
  s.width = Elements(table) / s.rows;
  s.count = Elements(indices) * (indices.row_bytes > 0 ? rows : 1);
  s.workspace = memory_.workspace();
  return memory_.device().kernels().ScatterAdd(s, Guard(number), stream);
}

// The sums over no rows: zero, and for a maximum the lowest number.
absl::Status StepIssuer::ClearOutputs(uint32_t number, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  const auto* reduce = step.body.AsLaneReduce();
  const bool max = reduce != nullptr && reduce->kind == fb::ReduceKind::Max;
  for (uint32_t b : step.outputs) {
    const fb::BufferT& buffer = Buffer(b);
    if (buffer.space != fb::Space::Step && buffer.space != fb::Space::Lane) continue;
    const CUdeviceptr address = memory_.Address(buffer);
    const size_t n = static_cast<size_t>(Elements(buffer));
    const DType dtype = static_cast<DType>(buffer.dtype);
    if (!max) {
      TD_CU(driver(), cuMemsetD8Async(address, 0, n * SizeOf(dtype), stream));
    } else if (SizeOf(dtype) == 4) {
      TD_CU(driver(), cuMemsetD32Async(address, dtype == DType::kFloat32 ? 0xff800000u : 0x80000000u, n, stream));
    } else {  // low and high words
      TD_CU(driver(), cuMemsetD8Async(address, 0, n * 8, stream));
      TD_CU(driver(),
            cuMemsetD2D32Async(address + 4, 8, dtype == DType::kFloat64 ? 0xfff00000u : 0x80000000u, 1, n, stream));
    }
  }
  return absl::OkStatus();
}

absl::Status StepIssuer::CheckOutputs(uint32_t number, int64_t rows, CUstream stream) {
  const fb::StepT& step = *plan_.steps[number];
  if (const auto* call = step.body.AsLibraryCall(); call != nullptr && call->primitive == fb::Primitive::PackWeights) {
    return absl::OkStatus();  // a layout with padding
  }
  for (uint32_t b : step.outputs) {
    const fb::BufferT& buffer = Buffer(b);
    const int64_t n = Elements(buffer) * (buffer.row_bytes > 0 ? rows : 1);
    TD_RETURN_IF_ERROR(
        memory_.device().kernels().CheckFinite(buffer.dtype, memory_.Address(buffer), n, memory_.flag(), stream));
  }
  return absl::OkStatus();
}

}  // namespace tandem
