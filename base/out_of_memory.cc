#include "base/out_of_memory.h"

#include "absl/strings/cord.h"

namespace tandem {
namespace {
constexpr char kPayload[] = "tandem/out_of_memory";
}  // namespace

absl::Status OutOfMemoryError(absl::string_view message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kPayload, absl::Cord("1"));
  return status;
}

bool IsOutOfMemory(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

}  // namespace tandem
