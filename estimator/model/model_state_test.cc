// Variables between memory, checkpoints and warm-start files.
#include "estimator/model/model_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/model/parameter_table.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

VariableSpec Var(const std::string& name, Shape shape, const std::string& slot_of = "") {
  VariableSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.slot_of = slot_of;
  spec.trainable = slot_of.empty();
  if (slot_of.empty()) spec.initializer = {Initializer::Kind::kConstant, 36, 0};
  return spec;
}

std::vector<VariableSpec> Model() {
  return {Var("dense/kernel", {2, 3}), Var("dense/bias", {3}), Var("dense/kernel/Adam", {2, 3}, "dense/kernel")};
}

ModelState NewState(const std::vector<VariableSpec>& variables, int devices = 1) {
  ModelState state(std::make_shared<VariableStore>(devices));
  EXPECT_TRUE(state.Initialize(variables, 0, ModelState::Which::kAll).ok());
  return state;
}

HostTensor Filled(Shape shape, float value) {
  HostTensor t(DType::kFloat32, std::move(shape));
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = value + i;
  return t;
}

absl::Status Save(const ModelState& state, CheckpointData* data) {
  absl::StatusOr<VariableSnapshot> snapshot = state.Snapshot(Model());
  if (!snapshot.ok()) return snapshot.status();
  EXPECT_FALSE(snapshot->on_device());
  return ModelState::FillFrom(*snapshot, Model(), data);
}

TEST(ModelState, InitializesAllOrOnlyWhatIsMissing) {
  ModelState state = NewState(Model());
  EXPECT_EQ(state.store()->Read("dense/bias")->data<float>()[0], 36);
  ASSERT_TRUE(state.Set({{"dense/bias", Filled({3}, 1)}}).ok());
  std::vector<VariableSpec> more = Model();
  more.push_back(Var("dense_1/bias", {1}));
  ASSERT_TRUE(state.Initialize(more, 0, ModelState::Which::kMissing).ok());
  EXPECT_EQ(state.store()->Read("dense/bias")->data<float>()[0], 1);
  EXPECT_EQ(state.store()->Read("dense_1/bias")->data<float>()[0], 36);
  ASSERT_TRUE(state.Initialize(more, 0, ModelState::Which::kAll).ok());
  EXPECT_EQ(state.store()->Read("dense/bias")->data<float>()[0], 36);
}

TEST(ModelState, SnapshotAndRestoreKeepEveryBit) {
  ModelState first = NewState(Model());
  ASSERT_TRUE(first.Set({{"dense/kernel", Filled({2, 3}, 0.1f)}, {"dense/kernel/Adam", Filled({2, 3}, 7)}}).ok());
  CheckpointData data;
  ASSERT_TRUE(Save(first, &data).ok());
  EXPECT_EQ(data.variables.size(), 2);
  EXPECT_EQ(data.slots.size(), 1);
  ModelState second = NewState(Model(), 2);
  ASSERT_TRUE(second.Restore(data, "ckpt", Model(), /*exact=*/true).ok());
  for (const VariableSpec& v : Model()) {
    EXPECT_TRUE(second.store()->Read(v.name)->BitEqual(*first.store()->Read(v.name))) << v.name;
  }
}

TEST(ModelState, ACheckpointOfAnotherModelListsAllDifferences) {
  ModelState first = NewState(Model());
  CheckpointData data;
  ASSERT_TRUE(Save(first, &data).ok());
  const std::vector<VariableSpec> other = {Var("dense/kernel", {2, 4}), Var("dense_1/bias", {3})};
  ModelState second = NewState(other);
  const absl::Status status = second.Restore(data, "/m/model.ckpt-5", other, /*exact=*/true);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  for (const char* part :
       {"/m/model.ckpt-5", "dense/kernel", "[2,3]", "[2,4]", "dense_1/bias", "dense/bias", "dense/kernel/Adam"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
  EXPECT_EQ(second.store()->Read("dense_1/bias")->data<float>()[0], 36);  // nothing was changed
}

TEST(ModelState, InferenceNeedsNoSlots) {
  ModelState first = NewState(Model());
  CheckpointData data;
  ASSERT_TRUE(Save(first, &data).ok());
  const std::vector<VariableSpec> inference = {Var("dense/kernel", {2, 3}), Var("dense/bias", {3})};
  ModelState second = NewState(inference);
  EXPECT_TRUE(second.Restore(data, "ckpt", inference, /*exact=*/false).ok());
  EXPECT_FALSE(second.Restore(data, "ckpt", inference, /*exact=*/true).ok());
}

TEST(ParameterTable, CountsWithoutSlots) {
  std::vector<VariableSpec> variables = Model();
  variables.push_back(Var("batch_normalization/moving_mean", {3}));
  variables.back().trainable = false;
  EXPECT_EQ(ParameterTable(variables),
            "name                             shape  parameters\n"
            "dense/kernel                     [2,3]           6\n"
            "dense/bias                       [3]             3\n"
            "batch_normalization/moving_mean  [3]             3\n"
            "total 12 parameters, of which 9 are trainable");
}

}  // namespace
}  // namespace tandem
