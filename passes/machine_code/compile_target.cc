#include "passes/machine_code/compile_target.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/exit_code.h"
#include "passes/codegen/cpu_target.h"

namespace tandem {
namespace {

constexpr absl::string_view kCpuPrefix = "cpu:", kCudaPrefix = "cuda:sm_";

std::string Allowed() {
  std::vector<std::string> names = CpuTargetNames();
  for (std::string& name : names) name = absl::StrCat(kCpuPrefix, name);
  for (int sm : CudaArchitectures()) names.push_back(absl::StrCat(kCudaPrefix, sm));
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompileTarget>> ParseTarget(absl::string_view name) {
  absl::string_view rest = name;
  std::unique_ptr<CompileTarget> target;
  if (absl::ConsumePrefix(&rest, kCudaPrefix)) {
    target = MakeCudaCompileTarget(rest);
  } else if (absl::ConsumePrefix(&rest, kCpuPrefix)) {
    target = MakeCpuCompileTarget(rest);
  }
  if (target != nullptr) return target;
  return absl::InvalidArgumentError(absl::StrCat("unknown target \"", name, "\"; known are ", Allowed()));
}

absl::StatusOr<std::string> TargetForComputeCapability(int sm) {
  const std::vector<int> known = CudaArchitectures();
  const auto newer = std::upper_bound(known.begin(), known.end(), sm);
  if (newer != known.begin()) return absl::StrCat(kCudaPrefix, *(newer - 1));
  return WithExitCode(absl::FailedPreconditionError(absl::StrCat("a GPU of compute capability ", sm / 10, ".", sm % 10,
                                                                 " is too old: ", known[0] / 10, ".", known[0] % 10,
                                                                 " or newer is needed")),
                      kExitUsage);
}

}  // namespace tandem
