#include "estimator/c/status.h"

#include <new>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"

struct tandem_status {
  absl::StatusCode code = absl::StatusCode::kResourceExhausted;
  int exit_code = tandem::kExitIo;
  std::string message;
};

namespace tandem::c {
namespace {

// What is returned if there is no memory for a handle. Its text is not in `message`, which would need memory too.
tandem_status& NoMemory() noexcept {
  static tandem_status status;
  return status;
}

}  // namespace

tandem_status* StatusHandle(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    return new tandem_status{status.code(), ExitCodeFor(status), std::string(status.message())};
  } catch (...) {
    return &NoMemory();
  }
}

absl::Status CheckNotNull(absl::string_view function, absl::string_view name, const void* argument) {
  if (argument != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(function, ": ", name, " is NULL"));
}

absl::Status CheckIndex(absl::string_view function, absl::string_view what, size_t index, size_t size) {
  if (index < size) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat(function, ": index ", index, ", and there are ", size, " ", what));
}

}  // namespace tandem::c

extern "C" {

int32_t tandem_c_version(void) { return TANDEM_C_VERSION; }

tandem_code tandem_status_code(const tandem_status* status) {
  return status == nullptr ? TANDEM_OK : static_cast<tandem_code>(status->code);
}

const char* tandem_status_message(const tandem_status* status) {
  if (status == nullptr) return "";
  return status == &tandem::c::NoMemory() ? "out of memory" : status->message.c_str();
}

int32_t tandem_status_exit_code(const tandem_status* status) { return status == nullptr ? 0 : status->exit_code; }

void tandem_status_free(tandem_status* status) {
  if (status != &tandem::c::NoMemory()) delete status;
}

}  // extern "C"
