// Helpers of the checkpoint tests.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_TEST_UTIL_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_TEST_UTIL_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/fault_injecting_env.h"
#include "estimator/checkpoint/checkpoint.h"
#include "gtest/gtest.h"

namespace tandem {

// Returns the path of a directory that does not exist.
inline std::string FreshPath(const std::string& name) {
  std::string path = JoinPath(testing::TempDir(), name);
  Env::Default()->DeleteRecursively(path).IgnoreError();
  return path;
}

// Before a file is opened for reading, does what another process might do then. Does not sleep.
class OpenHookEnv : public FaultInjectingEnv {
 public:
  OpenHookEnv() : FaultInjectingEnv(Env::Default()) {}
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(const std::string& path) override {
    if (on_open) on_open(path);
    return FaultInjectingEnv::OpenForRead(path);
  }
  std::function<void(const std::string& path)> on_open;
};

// Returns a small model's state, different for each step.
inline CheckpointData TestData(int64_t step) {
  CheckpointData data;
  float f = static_cast<float>(step);
  data.variables["dense/kernel"] = HostTensor::FromVector<float>({2, 2}, {f, f + 1, f + 2, f + 3});
  data.variables["dense/bias"] = HostTensor::FromVector<float>({2}, {-f, 0.5f});
  data.slots["dense/bias/Adam"] = HostTensor::FromVector<float>({2}, {f * 2, f * 3});
  data.slots["beta1_power"] = HostTensor::Scalar<double>(0.9 * static_cast<double>(step));
  data.global_step = step;
  data.seed = 0xffffffffffffff01u;
  data.iterator_state = std::string("iterator\0of step ", 17) + std::to_string(step);
  data.extra["best"] = "{\"accuracy\": 0.9}";
  return data;
}

inline void ExpectEqual(const CheckpointData& a, const CheckpointData& b) {
  auto expect_tensors_equal = [](const TensorMap& x, const TensorMap& y) {
    ASSERT_EQ(x.size(), y.size());
    for (auto i = x.begin(), j = y.begin(); i != x.end(); ++i, ++j) {
      EXPECT_EQ(i->first, j->first);
      EXPECT_TRUE(i->second.BitEqual(j->second)) << i->first;
    }
  };
  expect_tensors_equal(a.variables, b.variables);
  expect_tensors_equal(a.slots, b.slots);
  EXPECT_EQ(a.global_step, b.global_step);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.iterator_state, b.iterator_state);
  EXPECT_EQ(a.extra, b.extra);
}

inline std::vector<std::string> NamesIn(const std::string& dir) {
  auto names = Env::Default()->ListDir(dir);
  EXPECT_TRUE(names.ok()) << names.status();
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

// Returns the content of all files of a directory, by name.
inline std::map<std::string, std::string> FilesOf(const std::string& dir) {
  std::map<std::string, std::string> files;
  for (const std::string& name : NamesIn(dir)) {
    auto content = Env::Default()->ReadFile(JoinPath(dir, name));
    if (content.ok()) files[name] = *content;
  }
  return files;
}

inline void Overwrite(const std::string& path, const std::string& content) {
  ASSERT_TRUE(Env::Default()->WriteFile(path, {content}).ok()) << path;
}

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_TEST_UTIL_H_
