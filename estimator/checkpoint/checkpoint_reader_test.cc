#include "estimator/checkpoint/checkpoint_reader.h"

#include "base/exit_code.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::vector<std::string> NamesOf(const std::vector<SavedTensor>& tensors) {
  std::vector<std::string> names;
  for (const SavedTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

TEST(CheckpointReaderTest, OpensDirectoriesAndFiles) {
  std::string dir = FreshPath("reader");
  CheckpointManager manager(Env::Default(), dir);
  auto saved = manager.Save(TestData(6));
  ASSERT_TRUE(saved.ok()) << saved.status();
  for (const std::string& path : {dir, *saved, *saved + "/variables.safetensors"}) {
    auto reader = CheckpointReader::Open(Env::Default(), path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(NamesOf((*reader)->variables()), (std::vector<std::string>{"dense/bias", "dense/kernel"}));
    EXPECT_EQ((*reader)->variables()[1].TypeString(), "float32[2,2]");
    EXPECT_TRUE((*reader)->Read("dense/kernel")->BitEqual(TestData(6).variables["dense/kernel"]));
    absl::Status absent = (*reader)->Read("dense/kernle").status();
    EXPECT_TRUE(absl::IsNotFound(absent));
    EXPECT_NE(absent.message().find("did you mean \"dense/kernel\"? It has: dense/bias, dense/kernel"),
              absl::string_view::npos)
        << absent;
    bool is_file = path == *saved + "/variables.safetensors";
    EXPECT_EQ((*reader)->path(), is_file ? path : *saved);
    EXPECT_EQ((*reader)->global_step(), is_file ? std::nullopt : std::optional<int64_t>(6));
    EXPECT_EQ((*reader)->slots().size(), is_file ? 0u : 2u);
    EXPECT_EQ((*reader)->Contains("dense/bias/Adam"), !is_file);
    EXPECT_EQ((*reader)->Read("dense/bias/Adam").ok(), !is_file);
  }
}

TEST(CheckpointReaderTest, RefusesWhatIsMissingOrDamaged) {
  std::string dir = FreshPath("reader_bad");
  EXPECT_EQ(ExitCodeFor(CheckpointReader::Open(Env::Default(), dir).status()), kExitMissingInput);
  CheckpointManager manager(Env::Default(), dir);
  auto saved = manager.Save(TestData(6));
  ASSERT_TRUE(saved.ok()) << saved.status();
  Overwrite(*saved + "/slots.safetensors", "x");
  for (const std::string& path : {dir, *saved, *saved + "/slots.safetensors", *saved + "/state.json"}) {
    EXPECT_EQ(ExitCodeFor(CheckpointReader::Open(Env::Default(), path).status()), kExitBadData) << path;
  }
  ASSERT_TRUE(Env::Default()->CreateDirs(dir + "/empty").ok());
  EXPECT_EQ(ExitCodeFor(CheckpointReader::Open(Env::Default(), dir + "/empty").status()), kExitBadData);
}

TEST(CompareWithModelTest, ListsAllDifferences) {
  std::vector<SavedTensor> saved = {
      {"dense/kernel", DType::kFloat32, {784, 10}},
      {"dense/bias", DType::kFloat32, {10}},
      {"counter", DType::kInt32, {}},
      {"old", DType::kFloat32, {3}},
      {"half", DType::kInvalid, {2}, "BF16"},
  };
  std::vector<SavedTensor> wanted = {
      {"dense/bias", DType::kFloat32, {10}}, {"dense/kernel", DType::kFloat32, {784, 20}},
      {"counter", DType::kInt64, {}},        {"dense_1/kernel", DType::kFloat32, {20, 10}},
      {"half", DType::kFloat32, {2}},
  };
  absl::Status status = CompareWithModel("dir/model.ckpt-5", saved, wanted);
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_EQ(status.message(),
            "dir/model.ckpt-5: this checkpoint is of another model (5 differences):\n"
            "  counter: int32[] in the checkpoint, int64[] in the model\n"
            "  dense/kernel: float32[784,10] in the checkpoint, float32[784,20] in the model\n"
            "  dense_1/kernel: float32[20,10] in the model, missing in the checkpoint\n"
            "  half: BF16[2] in the checkpoint, float32[2] in the model\n"
            "  old: float32[3] in the checkpoint, not in the model\n"
            "Use another model_dir, or the model_fn and optimizer that the checkpoint was saved with.");
  EXPECT_TRUE(CompareWithModel("x", saved, saved).ok());
  EXPECT_TRUE(CompareWithModel("x", {}, {}).ok());
}

}  // namespace
}  // namespace tandem
