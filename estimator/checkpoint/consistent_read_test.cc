// Checkpoints that another process replaces while they are read.
#include "estimator/checkpoint/consistent_read.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

// A checkpoint of `step` with other bytes in each of its files.
CheckpointData OtherData(int64_t step, int64_t k = 1) {
  CheckpointData data = TestData(step + 1000 * k);
  data.global_step = step;
  data.seed = k;
  return data;
}

// What a reader finds.
using Reader = std::function<absl::StatusOr<CheckpointData>(Env* env, const std::string& dir)>;

absl::StatusOr<CheckpointData> ByReader(Env* env, const std::string& path) {
  TD_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(env, path));
  CheckpointData data;
  for (const SavedTensor& tensor : reader->variables()) {
    TD_ASSIGN_OR_RETURN(data.variables[tensor.name], reader->Read(tensor.name));
  }
  for (const SavedTensor& tensor : reader->slots()) {
    TD_ASSIGN_OR_RETURN(data.slots[tensor.name], reader->Read(tensor.name));
  }
  return data;
}

absl::StatusOr<CheckpointData> Latest(Env* env, const std::string& dir) {
  std::string path;
  TD_ASSIGN_OR_RETURN(std::optional<CheckpointData> data, CheckpointManager(env, dir).RestoreLatest(&path));
  EXPECT_EQ(BaseName(path), CheckpointName(data->global_step));
  return *std::move(data);
}

std::vector<std::pair<std::string, Reader>> LatestReaders() {
  return {{"RestoreLatest", Latest}, {"CheckpointReader", ByReader}};
}

std::vector<std::pair<std::string, Reader>> AllReaders() {
  std::vector<std::pair<std::string, Reader>> readers = LatestReaders();
  const auto path = [](const std::string& dir) { return JoinPath(dir, CheckpointName(5)); };
  readers.emplace_back(
      "Restore", [=](Env* env, const std::string& dir) { return CheckpointManager(env, dir).Restore(path(dir)); });
  readers.emplace_back("CheckpointReader of one",
                       [=](Env* env, const std::string& dir) { return ByReader(env, path(dir)); });
  return readers;
}

bool SameTensors(const TensorMap& a, const TensorMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto it = b.find(name);
    if (it == b.end() || !tensor.BitEqual(it->second)) return false;
  }
  return true;
}

bool Same(const CheckpointData& a, const CheckpointData& b) {
  return SameTensors(a.variables, b.variables) && SameTensors(a.slots, b.slots);
}

// Reads with every reader, while another process saves before the k-th opening of a file, for every k.
void ReadWhileReplaced(const std::vector<std::pair<std::string, Reader>>& readers, const CheckpointData& old_data,
                       const CheckpointData& new_data) {
  LogCapture log;  // a line for each replacement
  for (const auto& [name, read] : readers) {
    bool reached = true;
    for (int k = 1; reached; ++k) {
      SCOPED_TRACE(testing::Message() << name << ", opening " << k);
      const std::string dir = FreshPath("replaced");
      FaultInjectingEnv fast(Env::Default());  // without real fsyncs
      CheckpointManager writer(&fast, dir, /*keep_max=*/1);
      ASSERT_TRUE(writer.Save(old_data).ok());
      OpenHookEnv env;
      int opened = 0;
      env.on_open = [&](const std::string&) {
        if (++opened != k) return;
        EXPECT_TRUE(writer.Save(new_data).ok());
      };
      const absl::StatusOr<CheckpointData> data = read(&env, dir);
      reached = opened >= k;
      ASSERT_TRUE(data.ok()) << data.status();
      EXPECT_TRUE(Same(*data, new_data) || Same(*data, old_data)) << "of both";
    }
  }
}

TEST(ConsistentReadTest, ACheckpointOfTheSameStepMayReplaceIt) {
  ReadWhileReplaced(AllReaders(), OtherData(5), TestData(5));
}

TEST(ConsistentReadTest, TheLatestMayBeDeletedForANewerOne) {
  ReadWhileReplaced(LatestReaders(), TestData(5), TestData(6));
}

TEST(ConsistentReadTest, TheLatestMayBeDeletedWithoutAPointer) {
  const std::string dir = FreshPath("no_pointer");
  CheckpointManager writer(Env::Default(), dir);
  ASSERT_TRUE(writer.Save(TestData(4)).ok());
  ASSERT_TRUE(writer.Save(OtherData(5)).ok());
  ASSERT_TRUE(Env::Default()->DeleteFile(dir + "/checkpoint").ok());
  OpenHookEnv env;
  bool replaced = false;
  env.on_open = [&](const std::string& path) {
    if (BaseName(path) != kStateName || std::exchange(replaced, true)) return;
    EXPECT_TRUE(writer.Save(TestData(5)).ok());
    EXPECT_TRUE(Env::Default()->DeleteFile(dir + "/checkpoint").ok());
  };
  EXPECT_EQ(CheckpointManager(&env, dir).LatestCheckpoint()->value_or(""), dir + "/model.ckpt-5");
  EXPECT_TRUE(replaced);
}

// Nobody waits for ever.
TEST(ConsistentReadTest, ACheckpointThatIsReplacedAgainAndAgain) {
  LogCapture log;
  for (const auto& [name, read] : AllReaders()) {
    SCOPED_TRACE(name);
    const std::string dir = FreshPath("again");
    FaultInjectingEnv fast(Env::Default());
    CheckpointManager writer(&fast, dir);
    ASSERT_TRUE(writer.Save(TestData(5)).ok());
    OpenHookEnv env;
    int64_t saved = 0;
    env.on_open = [&](const std::string& path) {
      if (BaseName(path) != kSlotsName) return;
      EXPECT_TRUE(writer.Save(OtherData(5, ++saved)).ok());
    };
    EXPECT_FALSE(read(&env, dir).ok());
    EXPECT_GE(saved, kReadAttempts);
  }
}

// A read that finds nothing wrong, and is of two versions all the same.
TEST(ConsistentReadTest, NoResultIsOfTwoVersions) {
  const std::string dir = FreshPath("two");
  CheckpointManager writer(Env::Default(), dir);
  ASSERT_TRUE(writer.Save(TestData(5)).ok());
  const std::string path = dir + "/model.ckpt-5";
  int reads = 0;
  const auto read = [&](const std::string&) -> absl::StatusOr<int> {
    if (++reads == 3) return reads;
    EXPECT_TRUE(writer.Save(OtherData(5, reads)).ok());
    return reads;
  };
  const auto find = [&]() -> absl::StatusOr<std::string> { return path; };
  EXPECT_EQ(*ReadConsistently(Env::Default(), kManifestName, find, read), 3);
  // Deleted when all is read: that is good.
  reads = 0;
  const auto last = [&](const std::string&) -> absl::StatusOr<int> {
    EXPECT_TRUE(Env::Default()->DeleteRecursively(path).ok());
    return ++reads;
  };
  EXPECT_EQ(*ReadConsistently(Env::Default(), kManifestName, find, last), 1);
}

TEST(ConsistentReadTest, DamageIsReadOnce) {
  const std::string dir = FreshPath("damaged");
  CheckpointManager writer(Env::Default(), dir);
  ASSERT_TRUE(writer.Save(TestData(5)).ok());
  Overwrite(dir + "/model.ckpt-5/slots.safetensors", "x");
  OpenHookEnv env;
  int opened = 0;
  env.on_open = [&](const std::string& path) { opened += BaseName(path) == kSlotsName; };
  EXPECT_EQ(ExitCodeFor(ReadCheckpoint(&env, dir + "/model.ckpt-5").status()), kExitBadData);
  EXPECT_EQ(opened, 1);
}

}  // namespace
}  // namespace tandem
