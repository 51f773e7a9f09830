#include "base/out_of_memory.h"

#include "absl/strings/cord.h"

namespace tandem {
namespace {
constexpr char kOutOfMemoryPayload[] = "tandem/out_of_memory";
}  // namespace

absl::Status OutOfMemoryError(absl::string_view message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kOutOfMemoryPayload, absl::Cord("1"));
  return status;
}

bool IsOutOfMemory(const absl::Status& status) { return status.GetPayload(kOutOfMemoryPayload).has_value(); }

}  // namespace tandem
