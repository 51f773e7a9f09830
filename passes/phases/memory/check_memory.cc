// td-check-memory: refuses a program that uses more memory than the user allows (passes/Passes.td).
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "passes/base/pass_util.h"
#include "passes/base/passes.h"
#include "passes/exec/dialect.h"
#include "passes/phases/distribute/microbatch_sizes.h"
#include "passes/phases/memory/buffer_table.h"
#include "passes/target/target.h"

namespace tandem {

#define GEN_PASS_DEF_CHECKMEMORYPASS
#include "passes/passes.h.inc"

namespace {

std::string MiB(int64_t bytes) { return absl::StrFormat("%.1f MiB", bytes / 1048576.0); }

class CheckMemoryPass : public impl::CheckMemoryPassBase<CheckMemoryPass> {
 public:
  void runOnOperation() final {
    mlir::ModuleOp module = getOperation();
    const int64_t limit = ConfigOf(module).getMemoryLimit();
    mlir::func::FuncOp step = StepFunction(module);
    const exec::ArenasAttr arenas = GetArenas(module);
    if (limit <= 0 || !step || !arenas) return;
    const std::vector<format::Buffer> buffers = GetBuffers(module);
    const bool has_lanes = TargetOf(module)->has_lanes();
    int64_t variables = 0, lanes = 1;
    for (const format::Buffer& b : buffers)
      variables += b.space == exec::Space::kVariable ? static_cast<int64_t>(b.bytes) : 0;
    for (auto map : step.getOps<exec::MapMicrobatchesOp>()) {
      lanes = std::max<int64_t>(1, map.getLanes() / ConfigOf(module).getReplicas());
    }
    const std::pair<const char*, int64_t> parts[] = {
        {"variables", variables},
        {"batch arena", arenas.getBatch()},
        {"step arena", arenas.getStep()},
        {"slots of lanes", lanes * arenas.getLane()},
        {has_lanes ? "threads" : "microbatch arena",
         (has_lanes ? kNominalThreads : 1) * (arenas.getMicrobatch() + arenas.getLane())},
    };
    int64_t total = 0;
    std::string list;
    for (const auto& [name, bytes] : parts) {
      total += bytes;
      absl::StrAppend(&list, list.empty() ? "" : ", ", name, " ", MiB(bytes));
    }
    if (total <= limit) return;
    module->emitError()
        << "the program takes " << MiB(total) << " and memory_limit allows " << MiB(limit) << ": " << list
        << "; largest buffers: " << Largest(buffers)
        << (has_lanes ? "; a smaller batch or fewer lanes take less, and microbatch_rows makes the threads' part "
                        "smaller"
                      : "; a smaller batch takes less")
        << UnitHint(limit, total);
    signalPassFailure();
  }

 private:
  // A limit of a few megabytes is likely to have been meant in kilobytes.
  static std::string UnitHint(int64_t limit, int64_t total) {
    constexpr int64_t kKilobytesOf64GiB = int64_t{64} << 20;
    if (limit > kKilobytesOf64GiB || limit * 1024 < total) return "";
    return absl::StrCat("; memory_limit is in bytes: if ", limit, " are kilobytes, set ", limit * 1024);
  }

  static std::string Largest(std::vector<format::Buffer> buffers) {
    constexpr size_t kShown = 5;
    std::stable_sort(buffers.begin(), buffers.end(),
                     [](const format::Buffer& a, const format::Buffer& b) { return a.bytes > b.bytes; });
    if (buffers.size() > kShown) buffers.resize(kShown);
    std::string list;
    for (const format::Buffer& b : buffers) {
      absl::StrAppend(&list, list.empty() ? "" : ", ", b.name, " (", std::string(exec::stringifySpace(b.space)), ", ",
                      MiB(b.bytes), ")");
    }
    return list;
  }
};

}  // namespace

}  // namespace tandem
