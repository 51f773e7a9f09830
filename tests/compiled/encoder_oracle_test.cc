// The small encoder against losses and weights that NumPy computed in float64 (tests/oracle/encoder.py): embedding,
// attention, GELU and layer normalisation, forward and backward, from an independent source.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/compiled/encoder_model.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

template <typename T>
std::vector<T> Numbers(const nlohmann::json& array) {
  std::vector<T> values;
  for (const nlohmann::json& number : array) values.push_back(number.get<T>());
  return values;
}

class EncoderOracle : public testing::TestWithParam<double> {};

// With a cache that holds no scores, attention is one kernel.
TEST_P(EncoderOracle, LossesAndWeightsAreNumPys) {
  std::ifstream file("tests/data/encoder_sgd.json");
  const nlohmann::json record = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(record.is_object()) << "tests/data/encoder_sgd.json is missing or no JSON";
  const int64_t batch = static_cast<int64_t>(record["steps"][0]["labels"].size());
  for (int devices : {1, 2}) {
    SCOPED_TRACE(devices);
    absl::StatusOr<Program> program =
        Prepare(EncoderModel, {.devices = devices, .batch = batch / devices, .l2_bytes = GetParam()});
    ASSERT_TRUE(program.ok()) << program.status();
    size_t set = 0;
    for (const auto& [name, value] : program->Values()) {
      ASSERT_TRUE(record["initial"].contains(name)) << name;
      HostTensor initial = HostTensor::FromVector<float>(value.shape(), Numbers<float>(record["initial"][name]));
      ASSERT_TRUE(program->variables->Assign(name, initial).ok());
      ++set;
    }
    ASSERT_EQ(set, record["initial"].size());
    int64_t number = 0;
    for (const nlohmann::json& step : record["steps"]) {
      TensorMap inputs;
      inputs["ids"] = HostTensor::FromVector<int32_t>({batch, kEncoderPositions}, Numbers<int32_t>(step["ids"]));
      inputs["label"] = HostTensor::FromVector<int32_t>({batch}, Numbers<int32_t>(step["labels"]));
      const std::vector<int64_t> dealt(devices, batch / devices);
      absl::StatusOr<StepResult> result = program->Run(Deal(*program, inputs, dealt, number++));
      ASSERT_TRUE(result.ok()) << result.status();
      const HostTensor& loss = result->outputs.back();  // "logits", "loss"
      ASSERT_EQ(loss.num_elements(), 1);
      EXPECT_NEAR(*loss.data<float>(), step["loss"].get<double>(), 2e-6) << "step " << number;
    }
    for (const auto& [name, value] : program->Values()) {
      const std::vector<double> want = Numbers<double>(record["final"][name]);
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_NEAR(value.data<float>()[i], want[i], 2e-5) << name << " element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Caches, EncoderOracle, testing::Values(0, 1));

}  // namespace
}  // namespace tandem::compiled
