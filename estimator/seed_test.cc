// A seed is an integer of 64 bits, from the configuration to the random numbers of a step.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

#include "base/fingerprint.h"
#include "base/philox.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

constexpr int64_t kRows = 8, kColumns = 6;
constexpr char kRandom[] = "RandomUniform";

// The random numbers of one step at `seed`.
std::vector<float> Numbers(const std::string& dir, int64_t seed) {
  RunConfig config{.model_dir = dir, .seed = seed};
  config.save_checkpoints_steps = 0;
  config.threads = 1;
  auto model = [](const Features& features, const Tensor& labels, Mode, const Params&) {
    Tensor u = RandomUniform(features["x"].graph(), {kBatch, kColumns});
    EXPECT_EQ(u.name(), kRandom);
    Tensor loss = ReduceMean(Mul(layers::Dense(u, {.units = 1}), labels));
    return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
  };
  auto hook = std::make_shared<StepHook>(nullptr, std::vector<std::string>{kRandom});
  Estimator estimator(model, config);
  const absl::Status status = estimator.Train(LineInput(64, kRows), {.steps = 1, .hooks = {hook}});
  EXPECT_TRUE(status.ok()) << status;
  if (!status.ok()) return {};
  const auto values = hook->last.tensors.at(kRandom).values<float>();
  return {values.begin(), values.end()};
}

TEST(Seed, AllOfItsBitsCount) {
  const std::string dir = ModelDir();
  std::set<std::vector<float>> seen;
  int64_t seeds = 0;
  for (int64_t seed : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-2}, (int64_t{1} << 53) - 1, int64_t{1} << 53,
                       (int64_t{1} << 53) + 1, -(int64_t{1} << 53) - 1, std::numeric_limits<int64_t>::min(),
                       std::numeric_limits<int64_t>::min() + 1, std::numeric_limits<int64_t>::max(),
                       std::numeric_limits<int64_t>::max() - 1}) {
    // The definition of td.random_uniform, step 0.
    const uint64_t key = static_cast<uint64_t>(seed) ^ Fingerprint64(kRandom);
    std::vector<float> expected;
    for (uint32_t row = 0; row < kRows; ++row) {
      for (uint32_t column = 0; column < kColumns; ++column) {
        const PhiloxCounter words =
            Philox4x32({column / 4, row, 0, 0}, {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
        expected.push_back(UniformFloat(words[column % 4]));
      }
    }
    EXPECT_EQ(Numbers(dir, seed), expected) << seed;
    seen.insert(expected);
    ++seeds;
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), seeds);
}

}  // namespace
}  // namespace tandem
