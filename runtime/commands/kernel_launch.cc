// The command KernelLaunch: launches one compiled kernel.
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kernel_text.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class KernelLaunch final : public Command {
 public:
  explicit KernelLaunch(const format::Command& table)
      : Command(table), launch_(*table.body.As<format::KernelLaunch>()) {}

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.CheckIndex(field + ".kernel", launch_.kernel, v.index().kernels.size(), "kernel"));
    if (section == format::SectionKind::kGlobal) TD_RETURN_IF_ERROR(v.ReadsNoSlots(field, table().inputs));
    const format::Kernel& kernel = v.index().kernels[launch_.kernel];
    if (kernel.domain == format::Domain::kRows && section != format::SectionKind::kMap) {
      return v.Bad(field, "a kernel over rows needs a map section");
    }
    TD_RETURN_IF_ERROR(v.CheckKernelArguments(field, kernel, table().inputs, table().outputs, launch_.count));
    return kernel.domain == format::Domain::kBlocks ? VerifyBlocks(v, field, section) : absl::OkStatus();
  }

  absl::Status VerifyForGpu(const GpuCommandVerifier& v, const std::string& field) const override {
    return v.CheckLaunch(field, v.index().kernels[launch_.kernel], launch_.count);
  }

  std::optional<KernelLaunches> launches() const override { return KernelLaunches{launch_.kernel, {launch_.count}}; }
  uint64_t WorkspaceBytes(const WorkContext& context) const override {
    return ScratchBytes(context.index.kernels[launch_.kernel]);
  }

  std::string Summary(const format::Index& index) const override { return index.kernels[launch_.kernel].name; }
  std::string Detail(const format::Index& index) const override { return KernelText(index.kernels[launch_.kernel]); }
  std::vector<CommandProperty> Properties(const format::Index& index) const override {
    std::vector<CommandProperty> properties = {{"kernel", index.kernels[launch_.kernel].name}};
    if (launch_.count != 0) properties.push_back({"count", static_cast<int64_t>(launch_.count)});
    return properties;
  }

 protected:
  void AddFlops(const WorkContext& context, bool, ExecutionWork& work) const override {
    const format::Kernel& kernel = context.index.kernels[launch_.kernel];
    const double flops = static_cast<double>(kernel.flops_per_row);
    if (kernel.domain == format::Domain::kRows) {
      work.flops_per_row = flops;
      return;
    }
    // flops_per_row has the operations of one element if the kernel is flat, of one row of the batch if it runs over
    // blocks, and all operations for other kernels.
    work.flops = flops * (kernel.skeleton == "flat"                  ? static_cast<double>(launch_.count)
                          : kernel.domain == format::Domain::kBlocks ? static_cast<double>(context.rows())
                                                                     : 1);
  }

 private:
  // Checks a kernel over blocks: it computes rows of one output from batched inputs.
  absl::Status VerifyBlocks(const CommandVerifier& v, const std::string& field, format::SectionKind section) const {
    if (section == format::SectionKind::kMap) return v.Bad(field, "a kernel over blocks needs a global section");
    if (table().outputs.size() != 1) return v.Bad(field, "a kernel over blocks has one output");
    const format::Buffer& out = v.Buffer(table().outputs[0]);
    // The output counts as a matrix: its rows are all dimensions but the last.
    const int64_t columns = out.shape.empty() ? 0 : out.shape.back();
    const uint64_t elements = static_cast<uint64_t>(v.Elements(table().outputs[0]));
    if (out.row_bytes > 0 || columns <= 0 || launch_.count == 0 || launch_.count > elements / columns ||
        launch_.count * columns != elements) {
      return v.Bad(field, "the output does not have ", launch_.count, " rows");
    }
    for (uint32_t b : table().inputs) {
      if (v.Buffer(b).row_bytes == 0) return v.Bad(field, "input ", b, " is not batched");
    }
    return absl::OkStatus();
  }

  const format::KernelLaunch& launch_;
};

}  // namespace

std::unique_ptr<Command> NewKernelLaunch(const format::Command& table) { return std::make_unique<KernelLaunch>(table); }

}  // namespace tandem
