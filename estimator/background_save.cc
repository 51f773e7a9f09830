#include "estimator/background_save.h"

#include <utility>

namespace tandem {

BackgroundSave::~BackgroundSave() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundSave::Start(std::function<absl::Status()> save) {
  done_ = false;
  thread_ = std::thread([this, save = std::move(save)] {
    status_ = save();
    done_ = true;
  });
}

absl::Status BackgroundSave::Finish(bool wait) {
  if (!thread_.joinable() || (!wait && !done_)) return absl::OkStatus();
  thread_.join();
  return std::exchange(status_, absl::OkStatus());
}

}  // namespace tandem
