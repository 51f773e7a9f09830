// AllocationFailure with a trained model: test::LineModel, two steps of it, with checkpoints of each.
#ifndef TANDEM_TESTS_ALLOCATION_TRAINED_MODEL_H_
#define TANDEM_TESTS_ALLOCATION_TRAINED_MODEL_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "estimator/test_models.h"
#include "tests/allocation/allocation_failure.h"

namespace tandem::test {

class TrainedModel : public AllocationFailure {
 protected:
  TrainedModel();

  std::filesystem::path Trained() const { return root() / "trained"; }
  // What a child may change.
  std::filesystem::path Scratch() const { return root() / "scratch"; }
  // Makes it as Trained() is.
  void Refresh() const;

  static RunConfig ConfigIn(const std::filesystem::path& dir);
  static absl::Status Train(const std::filesystem::path& dir, int64_t max_steps);

  // The newest checkpoint of the scratch directory restores, and is of one of `steps`; 0: there may be none.
  void CheckCheckpoint(const std::set<int64_t>& steps) const;

  // What the trained model gives for a row of two numbers, by its definition.
  float Expected(float x0, float x1) const { return weights_[0] * x0 + weights_[1] * x1 + bias_; }
  // InternalError unless `y`, which has a row for each of `x`, is what is expected.
  absl::Status CheckPredictions(const HostTensor& x, const HostTensor& y) const;

 private:
  float weights_[2] = {0, 0}, bias_ = 0;
};

}  // namespace tandem::test

#endif  // TANDEM_TESTS_ALLOCATION_TRAINED_MODEL_H_
