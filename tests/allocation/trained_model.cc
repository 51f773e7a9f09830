#include "tests/allocation/trained_model.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint_manager.h"

namespace tandem::test {

namespace fs = std::filesystem;

TrainedModel::TrainedModel() {
  // A child's work, so that this process stays one thread.
  const ProcessEnd end = InChild(0, false, [&](const Armed&) { return Train(Trained(), 2); });
  EXPECT_EQ(end.exit_code, 0) << end.message;
  const auto data = CheckpointManager(Env::Default(), Trained().string()).RestoreLatest();
  EXPECT_TRUE(data.ok()) << data.status();
  if (!data.ok() || !data->has_value()) return;
  for (const auto& [name, value] : (*data)->variables) {
    if (name == "dense/kernel") std::copy_n(value.data<float>(), 2, weights_);
    if (name == "dense/bias") bias_ = value.data<float>()[0];
  }
  EXPECT_NE(weights_[0], 0);
}

void TrainedModel::Refresh() const {
  fs::remove_all(Scratch());
  fs::copy(Trained(), Scratch(), fs::copy_options::recursive);
}

RunConfig TrainedModel::ConfigIn(const fs::path& dir) {
  RunConfig config = Config(dir.string());
  config.seed = 7;
  config.save_checkpoints_steps = 1;
  return config;
}

absl::Status TrainedModel::Train(const fs::path& dir, int64_t max_steps) {
  Estimator estimator(LineModel, ConfigIn(dir));
  return estimator.Train(LineInput(), {.max_steps = max_steps});
}

void TrainedModel::CheckCheckpoint(const std::set<int64_t>& steps) const {
  CheckpointManager manager(Env::Default(), Scratch().string());
  auto latest = manager.LatestCheckpoint();
  ASSERT_TRUE(latest.ok()) << latest.status();
  if (!latest->has_value()) {
    ASSERT_TRUE(steps.contains(0));
    return;
  }
  auto data = manager.Restore(**latest);
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_TRUE(steps.contains(data->global_step)) << data->global_step;
  for (const auto& entry : fs::directory_iterator(Scratch())) {
    ASSERT_EQ(entry.path().string().find(".damaged"), std::string::npos) << entry.path();
  }
}

absl::Status TrainedModel::CheckPredictions(const HostTensor& x, const HostTensor& y) const {
  const int64_t rows = x.shape()[0];
  if (y.num_elements() != rows) return absl::InternalError(absl::StrCat(y.num_elements(), " predictions of ", rows));
  for (int64_t i = 0; i < rows; ++i) {
    const float expected = Expected(x.data<float>()[2 * i], x.data<float>()[2 * i + 1]), got = y.data<float>()[i];
    if (std::abs(expected - got) > 1e-5) {
      return absl::InternalError(absl::StrCat("row ", i, " is ", got, " instead of ", expected));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem::test
