// Lets allocations fail in TrainAndEvaluate with exporters and summaries, and looks at all that it has written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "estimator/curves/event_file.h"
#include "estimator/exporter.h"
#include "estimator/serving/model.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/summary.h"
#include "tests/allocation/trained_model.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

using test::Armed;

// LineModel that shows itself.
EstimatorSpec ShownModel(const Features& features, const Tensor& labels, Mode mode, const Params& params) {
  if (mode != Mode::kPredict) {
    summary::Scalar("mean_x", ReduceMean(features["x"]));
    summary::Histogram("x", features["x"]);
    summary::Image("points", Reshape(features["x"], {kBatch, 1, 2, 1}), {.max_outputs = 1});
    summary::Text(features.graph(), "note", "a line");
  }
  return test::LineModel(features, labels, mode, params);
}

class TrainAndEvaluateAllocationTest : public test::TrainedModel {
 protected:
  static absl::Status Run(const fs::path& dir, int64_t max_steps) {
    RunConfig config = ConfigIn(dir);
    config.save_summary_steps = 1;
    config.log_step_count_steps = 1;
    Estimator estimator(ShownModel, config);
    const ServingInput serving{.features = {{"x", DType::kFloat32, {kBatch, 2}}}};
    return TrainAndEvaluate(estimator, {.input_fn = test::LineInput(), .max_steps = max_steps},
                            {.input_fn = test::LineInput(16, 8, 1),
                             .throttle_secs = 0,
                             .exporters = {LatestExporter("latest", serving, {.exports_to_keep = 1}),
                                           BestExporter("best", serving), FinalExporter("final", serving)}})
        .status();
  }

  // The records of trainings and evaluations.
  void CheckRecords() const {
    for (const auto& entry : fs::recursive_directory_iterator(Scratch())) {
      const std::string path = entry.path().string(), name = entry.path().filename().string();
      if (name.starts_with("events.out.")) {
        const absl::Status read = ReadEventFile(Env::Default(), path, [](const PlotEvent&) {});
        EXPECT_TRUE(read.ok()) << read;
      } else if (name == "metrics.jsonl") {
        const auto text = Env::Default()->ReadFile(path);
        ASSERT_TRUE(text.ok()) << text.status();
        for (absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
          EXPECT_FALSE(nlohmann::json::parse(line, nullptr, false).is_discarded()) << path << ": " << line;
        }
      }
    }
  }

  void CheckExports() {
    const auto end = InChild(0, false, [&](const Armed&) -> absl::Status {
      for (const char* exporter : {"latest", "best", "final"}) {
        const fs::path base = Scratch() / "export" / exporter;
        if (!fs::exists(base)) continue;
        for (const auto& entry : fs::directory_iterator(base)) {
          if (entry.path().filename().string().starts_with(".")) continue;  // what was not finished
          TD_RETURN_IF_ERROR(LoadModel(entry.path().string(), {.threads = 1}).status());
        }
      }
      return absl::OkStatus();
    });
    EXPECT_EQ(end.exit_code, 0) << end.message;
  }
};

TEST_F(TrainAndEvaluateAllocationTest, ExportersAndSummaries) {
  // With its programs compiled.
  const auto compiled = InChild(0, false, [&](const Armed&) { return Run(Trained(), 3); });
  ASSERT_EQ(compiled.exit_code, 0) << compiled.message;
  TryAll(
      "train, evaluate, export and show",
      [&](const Armed& armed) -> absl::Status {
        Refresh();
        TD_RETURN_IF_ERROR(armed([&] { return Run(Scratch(), 5); }));
        return HasExport((Scratch() / "export/final").string()) ? absl::OkStatus() : absl::InternalError("no export");
      },
      [&] {
        CheckCheckpoint({3, 4, 5});
        CheckRecords();
        CheckExports();
      });
}

}  // namespace
}  // namespace tandem
