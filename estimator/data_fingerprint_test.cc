// A run that goes on with other data of the same form is told so.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/logging.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

InputFn Points(float label_of_the_last, bool stream) {
  return [=](const InputContext&) -> absl::StatusOr<Dataset> {
    std::vector<float> x(2 * 40, 0.5f), y(40, 1.0f);
    y.back() = label_of_the_last;
    Dataset::Slices slices = {{"x", HostTensor::FromVector({40, 2}, x)}, {"label", HostTensor::FromVector({40, 1}, y)}};
    Dataset points = stream ? Dataset::FromTensorSlices(std::move(slices), [](int64_t) { return absl::OkStatus(); })
                            : Dataset::FromTensorSlices(std::move(slices));
    return points.Shuffle(8).Repeat().Batch(4);
  };
}

TEST(DataFingerprint, OtherDataAreWarnedAbout) {
  for (bool stream : {false, true}) {
    const std::string dir = ModelDir(stream ? "stream" : "memory");
    const auto warned = [&](float label) {
      LogCapture log;
      Estimator estimator(LineModel, Config(dir));
      EXPECT_EQ(estimator.Train(Points(label, stream), {.steps = 2}), absl::OkStatus());
      EXPECT_FALSE(log.Contains("The input starts from its beginning"));
      return log.Contains("The data are not those that the checkpoint was trained with");
    };
    EXPECT_FALSE(warned(1));
    EXPECT_FALSE(warned(1));
    EXPECT_TRUE(warned(1.25));
    EXPECT_FALSE(warned(1.25));
  }
}

}  // namespace
}  // namespace tandem
