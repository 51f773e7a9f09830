// The command GroupedLaunch: runs one kernel over the elements of many tensors, such as the updates of all variables.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/commands/kernel_text.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class GroupedLaunch final : public Command {
 public:
  explicit GroupedLaunch(const format::Command& table)
      : Command(table), group_(*table.body.As<format::GroupedLaunch>()) {}

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.NeedsGlobal(field, section));
    TD_RETURN_IF_ERROR(v.CheckIndex(field + ".kernel", group_.kernel, v.index().kernels.size(), "kernel"));
    const format::Kernel& kernel = v.index().kernels[group_.kernel];
    if (kernel.domain != format::Domain::kElements) return v.Bad(field, "needs a kernel over elements");
    const size_t inputs = kernel.inputs.size(), arguments = inputs + kernel.outputs.size();
    if (group_.num_args == 0 || group_.num_args != arguments) {
      return v.Bad(field, group_.num_args, " arguments for each member; kernel ", kernel.name, " has ", arguments);
    }
    if (group_.args.size() != uint64_t{group_.num_args} * group_.counts.size()) {
      return v.Bad(field, group_.args.size(), " arguments for ", group_.counts.size(), " members with ",
                   group_.num_args, " each");
    }
    for (size_t i = 0; i < group_.args.size(); ++i) {
      const std::string at = absl::StrCat(field, ".args[", i, "]");
      TD_RETURN_IF_ERROR(v.CheckOperand(at, group_.args[i], section, /*output=*/i % group_.num_args >= inputs));
      TD_RETURN_IF_ERROR(v.ReadsNoSlots(at, {group_.args[i]}));
    }
    for (size_t member = 0; member < group_.counts.size(); ++member) {
      const auto args = absl::MakeConstSpan(group_.args).subspan(member * group_.num_args, group_.num_args);
      TD_RETURN_IF_ERROR(v.CheckKernelArguments(absl::StrCat(field, " member ", member), kernel, args.first(inputs),
                                                args.subspan(inputs), group_.counts[member]));
    }
    return absl::OkStatus();
  }

  absl::Status VerifyForGpu(const GpuCommandVerifier& v, const std::string& field) const override {
    const format::Kernel& kernel = v.index().kernels[group_.kernel];
    uint64_t blocks = 0;  // number of blocks of one launch for all members
    for (uint64_t count : group_.counts) {
      TD_RETURN_IF_ERROR(v.CheckLaunch(field, kernel, count));
      blocks += GpuGrid(*kernel.gpu, count);
      if (blocks > kMaxGpuGrid) return v.Bad(field, "kernel ", kernel.name, " needs too many blocks for all members");
    }
    return absl::OkStatus();
  }

  // Kernel arguments that are not among the command's operands are considered read.
  std::vector<uint32_t> Reads() const override {
    std::vector<uint32_t> reads = table().inputs;
    reads.insert(reads.end(), group_.args.begin(), group_.args.end());
    return reads;
  }
  // A command without outputs of its own may write all of the kernel's arguments.
  bool WritesVariables(const format::Program& program) const override {
    return table().outputs.empty() || Command::WritesVariables(program);
  }
  std::optional<KernelLaunches> launches() const override {
    return KernelLaunches{group_.kernel, group_.counts, /*grouped=*/true};
  }
  uint64_t GpuTableBytes(const WorkContext& context) const override {
    const std::optional<format::GpuLaunch>& gpu = context.index.kernels[group_.kernel].gpu;
    if (!gpu) return 0;
    uint64_t blocks = 0;
    for (uint64_t count : group_.counts) blocks += GpuGrid(*gpu, count);
    return GpuGroupTableBytes(group_.num_args, group_.counts.size(), blocks);
  }
  uint64_t WorkspaceBytes(const WorkContext& context) const override {
    return ScratchBytes(context.index.kernels[group_.kernel]);
  }

  std::string Summary(const format::Index& index) const override { return index.kernels[group_.kernel].name; }
  std::string Detail(const format::Index& index) const override { return KernelText(index.kernels[group_.kernel]); }
  std::vector<CommandProperty> Properties(const format::Index& index) const override {
    return {{"kernel", index.kernels[group_.kernel].name}, {"members", static_cast<int64_t>(group_.counts.size())}};
  }

 protected:
  void AddFlops(const WorkContext& context, bool, ExecutionWork& work) const override {
    for (uint64_t count : group_.counts) {
      work.flops += static_cast<double>(context.index.kernels[group_.kernel].flops_per_row * count);
    }
  }

 private:
  const format::GroupedLaunch& group_;
};

}  // namespace

std::unique_ptr<Command> NewGroupedLaunch(const format::Command& table) {
  return std::make_unique<GroupedLaunch>(table);
}

}  // namespace tandem
