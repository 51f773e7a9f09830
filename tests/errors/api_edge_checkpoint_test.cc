// Readers and writers of checkpoints with arguments that they cannot use.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/host_tensor.h"
#include "base/test_dir.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/checkpoint/write_checkpoint.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TensorMap Good() { return {{"w", HostTensor::Zeros(DType::kFloat32, {2})}}; }

CheckpointData Data(TensorMap variables, int64_t step = 3) {
  CheckpointData data;
  data.variables = std::move(variables);
  data.global_step = step;
  return data;
}

TEST(CheckpointEdgeTest, Safetensors) {
  Env* env = Env::Default();
  const std::string dir = TestDir("safetensors"), path = JoinPath(dir, "file");
  ASSERT_TRUE(WriteSafetensors(env, path, Good()).ok());
  const auto reader = SafetensorsReader::Open(env, path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const HostTensor texts(DType::kString, {2});
  Check({
      {"f", "no JSON", [] { return ParseSafetensorsHeader("", 0, "f").status(); }},
      {"f", "a list", [] { return ParseSafetensorsHeader("[]", 0, "f").status(); }},
      {"f", "a negative size", [] { return ParseSafetensorsHeader("{}", -1, "f").status(); }},
      {"f", "bytes that no tensor has", [] { return ParseSafetensorsHeader("{}", kHuge, "f").status(); }},
      {"an empty path", "no path", [=] { return SafetensorsReader::Open(env, "").status(); }},
      {dir, "a folder", [=] { return SafetensorsReader::Open(env, dir).status(); }},
      {"an empty path", "no path", [=] { return ReadSafetensors(env, "").status(); }},
      {path, "an empty name", [&] { return (*reader)->Read("").status(); }},
      {path, "no such tensor", [&] { return (*reader)->Read("x").status(); }, "x"},
      {"\"a\"", "an empty tensor",
       [] {
         return SerializeSafetensors({{"a", HostTensor()}}).status();
       }},
      {"\"a\"", "texts",
       [=] {
         return SerializeSafetensors({{"a", texts}}).status();
       }},
      {"UTF-8", "a name",
       [] {
         return SerializeSafetensors({{"\xff", HostTensor::Scalar(1.0f)}}).status();
       }},
      {"UTF-8", "metadata",
       [] {
         return SerializeSafetensors(Good(), {{"a", "\xff"}}).status();
       }},
      {"__metadata__", "a tensor of its name",
       [] {
         return SerializeSafetensors({{"__metadata__", HostTensor::Scalar(1.0f)}}).status();
       }},
      {"an empty path", "no path", [=] { return WriteSafetensors(env, "", Good()); }},
      {dir, "a folder", [=] { return WriteSafetensors(env, dir, Good()); }},
  });
  EXPECT_EQ((*reader)->Find(""), nullptr);
}

TEST(CheckpointEdgeTest, Readers) {
  Env* env = Env::Default();
  const std::string dir = TestDir("readers"), path = JoinPath(dir, "model.ckpt-3");
  ASSERT_TRUE(WriteNewCheckpoint(env, path, Data(Good())).ok());
  const auto reader = CheckpointReader::Open(env, path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const SavedTensor w = {"w", DType::kFloat32, {2}}, wide = {"w", DType::kFloat32, {3}}, unset;
  Check({
      {"an empty path", "no path", [=] { return CheckpointReader::Open(env, "").status(); }},
      {"/no/checkpoint", "nothing there", [=] { return CheckpointReader::Open(env, "/no/checkpoint").status(); }},
      {"/dev/null", "a device", [=] { return CheckpointReader::Open(env, "/dev/null").status(); }},
      {path, "an empty name", [&] { return (*reader)->Read("").status(); }},
      {"x", "no such tensor", [&] { return (*reader)->Read("x").status(); }, "w"},
      {"c", "another shape", [=] { return CompareWithModel("c", {w}, {wide}); }, "[3]"},
      {"c", "a tensor that says nothing", [=] { return CompareWithModel("c", {}, {unset}); }},
      {"an empty path", "no path", [=] { return ReadCheckpoint(env, "").status(); }},
      {"/no/checkpoint", "nothing there", [=] { return ReadCheckpoint(env, "/no/checkpoint").status(); }},
  });
  EXPECT_FALSE((*reader)->Contains(""));
  EXPECT_TRUE(CompareWithModel("", {}, {}).ok());
}

TEST(CheckpointEdgeTest, Writers) {
  Env* env = Env::Default();
  const std::string dir = TestDir("written");
  auto write = [=](const std::string& name, const CheckpointData& data) {
    return [=] { return WriteNewCheckpoint(env, JoinPath(dir, name), data); };
  };
  CheckpointData extra = Data(Good());
  extra.extra["a"] = "\xff";
  Check({
      {"an empty path", "no path", [=] { return WriteNewCheckpoint(env, "", Data(Good())); }},
      {"model.ckpt-7", "another step's name", write("model.ckpt-7", Data(Good()))},
      {"step", "a negative step", write("a", Data(Good(), -1))},
      {"\"w\"", "an empty tensor", write("a", Data({{"w", HostTensor()}}))},
      {"UTF-8", "a name", write("a", Data({{"\xff", HostTensor::Scalar(1.0f)}}))},
      {"UTF-8", "a record", write("a", extra)},
      {dir, "what is there", [=] { return WriteNewCheckpoint(env, dir, Data(Good())); }},
  });
  EXPECT_TRUE(env->ListDir(dir)->empty()) << "nothing is left of what failed";
}

TEST(CheckpointEdgeTest, Managers) {
  Env* env = Env::Default();
  const std::string dir = TestDir("managers");
  CheckpointManager manager(env, dir), nowhere(env, ""), few(env, dir, -3);
  few.set_keep_every_n_hours(std::numeric_limits<double>::quiet_NaN());
  Check({
      {"step", "a negative step", [&] { return manager.Save(Data(Good(), kMin)).status(); }},
      {"\"w\"", "an empty tensor",
       [&] {
         return manager.Save(Data({{"w", HostTensor()}})).status();
       }},
      {"an empty path", "no path", [&] { return manager.Restore("").status(); }},
      {"/no/checkpoint", "nothing there", [&] { return manager.Restore("/no/checkpoint").status(); }},
  });
  EXPECT_TRUE(env->ListDir(dir)->empty()) << "nothing is left of what failed";
  EXPECT_EQ(*manager.Recover(), std::nullopt);
  EXPECT_EQ(*manager.LatestCheckpoint(), std::nullopt);
  EXPECT_TRUE(manager.ListCheckpoints()->empty());
  EXPECT_FALSE(nowhere.Save(Data(Good())).ok());
  // Of any number the newest checkpoint stays.
  ASSERT_TRUE(few.Save(Data(Good(), 1)).ok());
  ASSERT_TRUE(few.Save(Data(Good(), 2)).ok());
  EXPECT_EQ(**few.LatestCheckpoint(), JoinPath(dir, "model.ckpt-2"));
}

}  // namespace
}  // namespace tandem::edge
