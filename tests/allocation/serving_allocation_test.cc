// Lets allocations fail in predictions, in exports, and in models that are exported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "estimator/predictor.h"
#include "estimator/serving/model.h"
#include "tests/allocation/trained_model.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

using test::Armed;

constexpr int64_t kRows = 12;

class ServingAllocationTest : public test::TrainedModel {
 protected:
  ServingAllocationTest() {
    // With its programs compiled.
    const auto end = InChild(0, false, [&](const Armed&) -> absl::Status {
      TD_RETURN_IF_ERROR(Predict(Trained(), [](const NamedTensors&) { return true; }));
      return Export(root() / "unused").status();
    });
    EXPECT_EQ(end.exit_code, 0) << end.message;
  }

  static HostTensor Points() {
    std::vector<float> x;
    for (int i = 0; i < 2 * kRows; ++i) x.push_back(0.125f * static_cast<float>(i % 7));
    return HostTensor::FromVector({kRows, 2}, x);
  }

  static std::vector<ComponentSpec> Features() { return {{"x", DType::kFloat32, {kBatch, 2}}}; }

  static absl::Status Predict(const fs::path& dir, const PredictFn& on_prediction) {
    const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> {
      return Dataset::FromTensorSlices({{"x", Points()}}).Batch(8).Prefetch(2);
    };
    Estimator estimator(test::LineModel, ConfigIn(dir));
    return estimator.Predict(input, on_prediction);
  }

  fs::path Exports() const { return root() / "exports"; }

  absl::StatusOr<std::string> Export(const fs::path& base) const {
    Estimator estimator(test::LineModel, ConfigIn(Trained()));
    return estimator.ExportModel(base.string(), {.features = Features()});
  }

  absl::Status PredictWith(Model& model) const {
    TD_ASSIGN_OR_RETURN(const NamedTensors outputs, model.Predict({{"x", Points()}}));
    return CheckPredictions(Points(), outputs.at("y"));
  }

  // Whatever is among the exports is whole.
  void CheckExports(const fs::path& base) {
    if (!HasExport(base.string())) return;
    const auto end = InChild(0, false, [&](const Armed&) -> absl::Status {
      for (const auto& entry : fs::directory_iterator(base)) {
        if (!HasExport(entry.path().string())) continue;
        TD_ASSIGN_OR_RETURN(const auto model, LoadModel(entry.path().string(), {.threads = 1}));
        TD_RETURN_IF_ERROR(PredictWith(*model));
      }
      return absl::OkStatus();
    });
    EXPECT_EQ(end.exit_code, 0) << end.message;
  }
};

TEST_F(ServingAllocationTest, Predict) {
  TryAll("predict", [&](const Armed& armed) -> absl::Status {
    std::vector<float> y;
    Refresh();
    TD_RETURN_IF_ERROR(armed([&] {
      return Predict(Scratch(), [&](const NamedTensors& prediction) {
        y.push_back(prediction.at("y").data<float>()[0]);
        return true;
      });
    }));
    return CheckPredictions(Points(), HostTensor::FromVector({static_cast<int64_t>(y.size()), 1}, y));
  });
}

TEST_F(ServingAllocationTest, PredictorKeepsWeights) {
  TryAll("make a predictor", [&](const Armed& armed) {
    Refresh();
    return armed([&]() -> absl::Status {
      Estimator estimator(test::LineModel, ConfigIn(Scratch()));
      return estimator.MakePredictor(Features(), {.batch_size = 8}).status();
    });
  });
  TryAll("a call of a predictor", [&](const Armed& armed) -> absl::Status {
    Estimator estimator(test::LineModel, ConfigIn(Trained()));
    TD_ASSIGN_OR_RETURN(const auto predictor, estimator.MakePredictor(Features(), {.batch_size = 8}));
    const auto call = [&]() -> absl::Status {
      TD_ASSIGN_OR_RETURN(const auto outputs, predictor->Predict({{"x", Points()}}));
      return CheckPredictions(Points(), outputs.at("y"));
    };
    const absl::Status status = armed(call);
    TD_RETURN_IF_ERROR(call());  // one that failed changes nothing
    return status;
  });
}

TEST_F(ServingAllocationTest, Export) {
  TryAll(
      "export",
      [&](const Armed& armed) {
        fs::remove_all(Exports());
        return armed([&] { return Export(Exports()).status(); });
      },
      [&] { CheckExports(Exports()); });
}

TEST_F(ServingAllocationTest, LoadModelAndPredict) {
  const auto exported = InChild(0, false, [&](const Armed&) { return Export(Exports()).status(); });
  ASSERT_EQ(exported.exit_code, 0) << exported.message;
  TryAll("load an exported model", [&](const Armed& armed) {
    return armed([&]() -> absl::Status { return LoadModel(Exports().string(), {.threads = 2}).status(); });
  });
  TryAll("predictions of an exported model", [&](const Armed& armed) -> absl::Status {
    TD_ASSIGN_OR_RETURN(const auto model, LoadModel(Exports().string(), {.threads = 2}));
    const absl::Status status = armed([&] { return PredictWith(*model); });
    TD_RETURN_IF_ERROR(PredictWith(*model));
    return status;
  });
}

}  // namespace
}  // namespace tandem
