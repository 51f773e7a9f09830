// The command AllReduce: combines the values of all devices, in place.
#include "runtime/commands/collective_text.h"
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/kinds.h"

namespace tandem {
namespace {

class AllReduce final : public Command {
 public:
  explicit AllReduce(const format::Command& table) : Command(table), reduce_(*table.body.As<format::AllReduce>()) {}

  absl::Status Verify(const CommandVerifier& v, const std::string& field, format::SectionKind section) const override {
    TD_RETURN_IF_ERROR(v.NeedsGlobal(field, section));
    if (!Known(reduce_.kind)) return v.Bad(field, "bad kind");
    TD_RETURN_IF_ERROR(
        v.CheckIndex(field + ".collective", reduce_.collective, v.index().collectives.size(), "collective"));
    if (v.gpu() && !v.index().collectives[reduce_.collective].algorithm.empty()) {
      return v.Bad(field, "cross-device ops are for CPUs");
    }
    if (table().inputs != table().outputs) return v.Bad(field, "an all-reduce works in place");
    for (uint32_t b : table().inputs) {
      if (v.gpu() && v.Buffer(b).dtype == DType::kBFloat16) {
        return v.Bad(field, "bfloat16 is combined on CPUs only");
      }
      if (v.Buffer(b).space != format::Space::kStep) return v.Bad(field, "buffer ", b, " is not in the step arena");
    }
    if (v.gpu() && (reduce_.checks || table().overlap > 0)) {
      return v.Bad(field, "checks and overlap are for CPUs");
    }
    return v.CheckReduceOperands(field, table(), reduce_.kind);
  }

  int64_t GpuLaunches(const WorkContext& context) const override { return context.replicas() > 1 ? 1 : 0; }
  std::optional<CollectiveUse> collective() const override { return CollectiveUse{reduce_.collective, reduce_.kind}; }

  std::string Summary(const format::Index& index) const override {
    const format::Collective& collective = index.collectives[reduce_.collective];
    return absl::StrCat("collective ", collective.seq, collective.algorithm.empty() ? "" : " by ", collective.algorithm,
                        reduce_.checks ? ", checks" : "");
  }
  std::string Detail(const format::Index& index) const override {
    return absl::StrCat(Summary(index), ": ", CollectiveText(index.collectives[reduce_.collective]));
  }
  std::vector<CommandProperty> Properties(const format::Index& index) const override {
    return {{"collective", static_cast<int64_t>(index.collectives[reduce_.collective].seq)}};
  }

 protected:
  // Each operand is read once and written once.
  double Passes(const format::Buffer&, const WorkContext&) const override { return 2; }
  void AddFlops(const WorkContext& context, bool, ExecutionWork& work) const override {
    const double replicas = static_cast<double>(context.replicas());
    for (uint32_t b : table().inputs) work.flops += context.Elements(b) * (replicas - 1) / replicas;
  }

 private:
  const format::AllReduce& reduce_;
};

}  // namespace

std::unique_ptr<Command> NewAllReduce(const format::Command& table) { return std::make_unique<AllReduce>(table); }

}  // namespace tandem
