// Runs one kernel over the elements of many tensors: with one launch if the PTX has an entry for groups, else with one
// launch per member.
#include <array>
#include <set>

#include "base/status_macros.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/cuda/commands/kinds.h"
#include "runtime/cuda/commands/single_launch.h"
#include "runtime/cuda/kernels/group_table.h"

namespace tandem {
namespace {

// Returns those of `args` that the command writes. If it declares no outputs, it may write all of them.
std::vector<uint32_t> WrittenOf(const std::vector<uint32_t>& args, const format::Command& table) {
  if (table.outputs.empty()) return args;
  const std::set<uint32_t> outputs(table.outputs.begin(), table.outputs.end());
  std::vector<uint32_t> writes;
  for (uint32_t b : args) {
    if (outputs.count(b) > 0) writes.push_back(b);
  }
  return writes;
}

std::vector<uint32_t> ReadOf(const std::vector<uint32_t>& args, const format::Command& table) {
  return table.outputs.empty() ? std::vector<uint32_t>() : args;
}

class CudaGroup final : public CudaCommand {
 public:
  CudaGroup(const CudaContext& context, uint32_t number, const format::GroupedLaunch& group)
      : CudaCommand(context, number), group_(group) {}

  // Writes the table of members to the device, at `free`, and advances `free` by the table's size.
  absl::Status Upload(CUdeviceptr& free) {
    const GroupTable table = MakeGroupTable(gpu(), group_, [&](uint32_t b) { return Address(b); });
    grid_ = static_cast<unsigned>(table.blocks.size());
    table_bytes_ = table.members_bytes() + table.blocks_bytes();
    values_ = {free, free + table.members_bytes(), guard()};
    free += GpuGroupTableBytes(group_.num_args, group_.counts.size(), table.blocks.size());
    CudaDevice& device = context().memory.device();
    TD_RETURN_IF_ERROR(device.Upload(values_[0], table.members.data(), table.members_bytes()));
    return device.Upload(values_[1], table.blocks.data(), table.blocks_bytes());
  }

  absl::Status Issue(int64_t rows, int64_t, CUstream stream) override {
    Declare(ReadOf(group_.args, table()), WrittenOf(group_.args, table()), rows, 0, guard() != 0,
            {{values_[0], table_bytes_, false}});
    void* pointers[] = {&values_[0], &values_[1], &values_[2]};
    TD_CU(driver(), cuLaunchKernel(context().program.functions(group_.kernel).group, grid_, 1, 1, gpu().block, 1, 1,
                                   gpu().shared_bytes, stream, pointers, nullptr));
    return absl::OkStatus();
  }

 private:
  const format::GpuLaunch& gpu() const { return *context().index().kernels[group_.kernel].gpu; }

  const format::GroupedLaunch& group_;
  unsigned grid_ = 0;
  uint64_t table_bytes_ = 0;
  // The launch's arguments, which are device addresses: of the tables `members` and `blocks` (GroupTable), and of the
  // result of the finite check, which forbids to write (0 if there is none).
  std::array<uint64_t, 3> values_ = {};
};

class CudaLaunchOfEachMember final : public CudaCommand {
 public:
  CudaLaunchOfEachMember(const CudaContext& context, uint32_t number, const format::GroupedLaunch& group)
      : CudaCommand(context, number) {
    for (size_t m = 0; m < group.counts.size(); ++m) {
      const auto first = group.args.begin() + m * group.num_args;
      arguments_.emplace_back(first, first + group.num_args);
      launches_.emplace_back(context, group.kernel, arguments_.back(), group.counts[m], guard());
    }
  }

  absl::Status Issue(int64_t rows, int64_t first_row, CUstream stream) override {
    for (size_t m = 0; m < launches_.size(); ++m) {
      TD_RETURN_IF_ERROR(launches_[m].Launch(context(), rows, map() ? first_row : 0, stream, [&](uint64_t workspace) {
        Declare(ReadOf(arguments_[m], table()), WrittenOf(arguments_[m], table()), rows, workspace, guard() != 0);
      }));
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::vector<uint32_t>> arguments_;  // buffers of the arguments, indexed by member of the group
  std::vector<SingleLaunch> launches_;
};

}  // namespace

CudaCommandOr NewCudaGroupedLaunch(CudaContext& context, uint32_t number) {
  const format::Command& table = *context.plan.tables[number];
  const format::GroupedLaunch& group = *table.body.As<format::GroupedLaunch>();
  TD_RETURN_IF_ERROR(CheckKernelIsForGpu(context, table, group.kernel));
  if (context.program.functions(group.kernel).group == nullptr) {
    return std::make_unique<CudaLaunchOfEachMember>(context, number, group);
  }
  auto command = std::make_unique<CudaGroup>(context, number, group);
  TD_RETURN_IF_ERROR(command->Upload(context.free_table));
  return command;
}

}  // namespace tandem
