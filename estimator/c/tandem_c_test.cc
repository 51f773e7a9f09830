// tandem_c.h from a program in C.
#include "estimator/c/tandem_c.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/c/testing/c_program.h"
#include "estimator/c/tool_runner.h"
#include "estimator/serving/model.h"
#include "estimator/test_models.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

class TandemCTest : public ::testing::Test {
 protected:
  TandemCTest() : estimator_(test::LineModel, test::Config(test::ModelDir())) {
    EXPECT_TRUE(estimator_.Train(test::LineInput(), {.steps = 5}).ok());
    const auto exported = estimator_.ExportModel(JoinPath(estimator_.model_dir(), "exports"),
                                                 {.features = {{"x", DType::kFloat32, {kBatch, 2}}}},
                                                 {.metrics = {{"auc", 0.75}, {"loss", 0.5}}});
    EXPECT_TRUE(exported.ok()) << exported.status();
    path_ = *exported;
  }

  Estimator estimator_;
  std::string path_;
};

TEST_F(TandemCTest, PredictsWhatTheModelPredicts) {
  const auto model = LoadModel(path_);
  ASSERT_TRUE(model.ok()) << model.status();
  for (int64_t rows : {0, 1, 3, 50}) {
    HostTensor x(DType::kFloat32, {rows, 2});
    for (int64_t i = 0; i < 2 * rows; ++i) x.data<float>()[i] = static_cast<float>(i) / 7;
    const auto expected = (*model)->Predict({{"x", x}});
    ASSERT_TRUE(expected.ok()) << expected.status();
    std::vector<float> y(rows + 1);
    EXPECT_EQ(PredictPoints(path_.c_str(), x.data<float>(), rows, y.data()), 0) << "line of c_program.c";
    EXPECT_EQ(std::memcmp(y.data(), expected->at("y").raw(), rows * sizeof(float)), 0);
  }
}

TEST_F(TandemCTest, ManyThreadsCallOneModel) {
  tandem_model* model = nullptr;
  ASSERT_EQ(tandem_load(path_.c_str(), nullptr, &model), nullptr);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const float point[] = {0.25, 0.5};
      const int64_t shape[] = {1, 2};
      const tandem_tensor x = {"x", TANDEM_FLOAT32, 2, shape, point, sizeof point};
      float first = 0;
      for (int call = 0; call < 100; ++call) {
        float y = 0;
        const tandem_buffer buffer = {"y", TANDEM_FLOAT32, &y, sizeof y};
        ASSERT_EQ(tandem_predict_into(model, &x, 1, &buffer, 1), nullptr);
        if (call == 0) first = y;
        ASSERT_EQ(y, first);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  tandem_model_free(model);
}

TEST_F(TandemCTest, ShowsMetrics) {
  tandem_model* model = nullptr;
  ASSERT_EQ(tandem_load(path_.c_str(), nullptr, &model), nullptr);
  ASSERT_EQ(tandem_model_num_metrics(model), 2u);
  const char* name = nullptr;
  double value = 0;
  ASSERT_EQ(tandem_model_metric(model, 0, &name, &value), nullptr);
  EXPECT_STREQ(name, "auc");
  EXPECT_EQ(value, 0.75);
  tandem_model_free(model);
}

TEST_F(TandemCTest, ReadsCheckpoints) {
  size_t numbers = 0;
  EXPECT_EQ(ReadAllTensors(estimator_.model_dir().c_str(), &numbers), 0) << "line of c_program.c";
  EXPECT_GE(numbers, 3u) << "two weights and a bias";
  tandem_checkpoint* checkpoint = nullptr;
  ASSERT_EQ(tandem_checkpoint_open(estimator_.model_dir().c_str(), &checkpoint), nullptr);
  tandem_tensors* tensors = nullptr;
  tandem_status* status = tandem_checkpoint_read(checkpoint, "absent", &tensors);
  EXPECT_EQ(tandem_status_code(status), TANDEM_NOT_FOUND);
  EXPECT_EQ(tensors, nullptr);
  tandem_status_free(status);
  tandem_checkpoint_free(checkpoint);
}

TEST_F(TandemCTest, ReadsCurves) {
  const auto evaluated = estimator_.Evaluate(test::LineInput(), {.steps = 4});
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  tandem_curves* curves = nullptr;
  tandem_status* status = tandem_curves_read(estimator_.model_dir().c_str(), &curves);
  ASSERT_EQ(status, nullptr) << tandem_status_message(status);
  bool found = false;
  for (size_t i = 0; i < tandem_curves_size(curves); ++i) {
    tandem_curve curve;
    ASSERT_EQ(tandem_curves_get(curves, i, &curve), nullptr);
    if (std::string(curve.part) != "eval" || std::string(curve.tag) != "loss") continue;
    found = true;
    ASSERT_EQ(curve.size, 1u);
    EXPECT_EQ(curve.steps[0], 5);
    EXPECT_NEAR(curve.values[0], (*evaluated)["loss"], 1e-6);
  }
  EXPECT_TRUE(found);
  EXPECT_STREQ(tandem_curves_damage(curves), "");
  tandem_curves_free(curves);
}

TEST_F(TandemCTest, MistakesAreStatuses) { EXPECT_EQ(MakeMistakes(path_.c_str()), 0) << "line of c_program.c"; }

TEST(TandemCToolTest, RunsTheToolsOfTheLibrary) {
  c::SetToolRunner([](const std::string& name, const std::vector<std::string>& arguments) -> absl::StatusOr<int> {
    if (name != "dump") return absl::NotFoundError(absl::StrCat("no tool ", name));
    return static_cast<int>(arguments.size());
  });
  const char* arguments[] = {"a", "b"};
  int32_t exit_code = -1;
  EXPECT_EQ(tandem_run_tool("dump", 2, arguments, &exit_code), nullptr);
  EXPECT_EQ(exit_code, 2);
  tandem_status* status = tandem_run_tool("other", 0, nullptr, &exit_code);
  EXPECT_EQ(tandem_status_code(status), TANDEM_NOT_FOUND);
  tandem_status_free(status);
  c::SetToolRunner(nullptr);
}

}  // namespace
}  // namespace tandem
