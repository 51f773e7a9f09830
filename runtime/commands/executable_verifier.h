// ExecutableVerifier: the base of the classes that check the index of an executable when it is loaded.
#ifndef TANDEM_RUNTIME_COMMANDS_EXECUTABLE_VERIFIER_H_
#define TANDEM_RUNTIME_COMMANDS_EXECUTABLE_VERIFIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "runtime/format/index.h"
#include "runtime/library_calls/library_call.h"

namespace tandem {

constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 44;

// Errors are DataLoss with exit code 65, "<name>: <field>: <what>"; `field` is the checked field's place in the index.
class ExecutableVerifier {
 public:
  ExecutableVerifier(const format::Index& index, const std::string& name, const format::Program* program)
      : x_(index), name_(name), program_(program) {}

  template <typename... Args>
  absl::Status Bad(absl::string_view field, const Args&... what) const {
    return WithExitCode(absl::DataLossError(absl::StrCat(name_, ": ", field, ": ", what...)), kExitBadData);
  }

  absl::Status CheckIndex(absl::string_view field, uint64_t index, uint64_t size, absl::string_view table) const {
    if (index < size) return absl::OkStatus();
    return Bad(field, table, " ", index, " does not exist (there are ", size, ")");
  }

  absl::Status CheckLocation(const std::string& field, uint32_t location) const {
    return CheckIndex(field, location, x_.debug.locations.size(), "location");
  }

  const format::Buffer& Buffer(uint64_t i) const { return program_->buffers[i]; }

  int64_t Elements(uint64_t i) const {  // of one row if the buffer is batched
    const format::Buffer& b = Buffer(i);
    return CheckedElements(b.row_bytes > 0 ? std::vector<int64_t>(b.shape.begin() + 1, b.shape.end()) : b.shape);
  }

  absl::Status CheckReducible(const std::string& field, uint64_t buffer, format::ReduceKind kind) const {
    DType t = Buffer(buffer).dtype;
    if (t == DType::kBool || t == DType::kUInt8) return Bad(field, "cannot be reduced: bool or uint8");
    const bool floating = t == DType::kFloat32 || t == DType::kFloat64 || t == DType::kBFloat16;
    if (kind == format::ReduceKind::kMean && !floating) {
      return Bad(field, "a mean needs floating point");
    }
    return absl::OkStatus();
  }

  const format::Index& index() const { return x_; }
  const format::Program& program() const { return *program_; }

 protected:
  const format::Index& x_;
  const std::string& name_;
  const format::Program* program_;  // the program that is being checked
};

// Checks all commands of `program`, whose buffers have been checked, also those for the sums of lanes (lane slots).
absl::Status VerifyCommands(const format::Index& index, const format::Program& program, const std::string& name,
                            const std::string& field);

// Checks the flags that say how commands run: several at a time, one for several lanes (parts of the batch), or as
// updates of variables by blocks of rows. VerifyCommands must have accepted the commands.
absl::Status VerifyExecution(const format::Index& index, const format::Program& program, const std::string& name,
                             const std::string& field);

// Checks the parts that only executables for GPUs have: images, launches, plans and schedules. In an executable for
// CPUs it checks that there are none. To be called after all other checks.
absl::Status VerifyGpuParts(const format::Index& index, const std::string& name);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_EXECUTABLE_VERIFIER_H_
