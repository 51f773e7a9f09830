#include "estimator/loop/background_save.h"

#include <utility>

#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"

namespace tandem {

BackgroundSave::~BackgroundSave() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundSave::Start(std::function<absl::StatusOr<std::string>()> save) {
  done_ = false;
  auto run = [this, save = std::move(save)] {
    result_ = CatchResourceErrors("writing a checkpoint", save);
    done_ = true;
  };
  absl::StatusOr<std::thread> thread = StartThread("writing a checkpoint", run);
  pending_ = true;
  if (thread.ok()) {
    thread_ = *std::move(thread);
    return;
  }
  TD_LOG(WARNING) << "training waits for this checkpoint to be written: " << thread.status().message();
  run();
}

absl::StatusOr<std::optional<std::string>> BackgroundSave::Finish(bool wait) {
  if (!pending_ || (!wait && !done_)) return std::nullopt;
  if (thread_.joinable()) thread_.join();
  pending_ = false;
  TD_RETURN_IF_ERROR(result_.status());
  return *std::move(result_);
}

}  // namespace tandem
