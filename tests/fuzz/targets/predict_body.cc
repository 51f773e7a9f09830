// The body of a request to tandem-serve.
#include <memory>
#include <utility>

#include "estimator/serving/server/predict_body.h"
#include "estimator/serving/server/predictions_json.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  return {R"({"instances": [{"x": [[1, -2.5e3], [NaN, Infinity]], "n": 7, "flag": true}]})",
          R"({"inputs": {"x": [[[1, 2], [3, 4]]], "n": [-7], "flag": [false]}, "signature_name": ""})",
          R"({"inputs": {"\u0078": [], "n": [], "flag": []}})"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tandem;
  const std::vector<TensorSignature> inputs = {
      {"x", DType::kFloat32, {kBatch, 2, 2}}, {"n", DType::kInt64, {kBatch}}, {"flag", DType::kBool, {kBatch}}};
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  auto body = serving::ParsePredictBody(text, inputs);
  if (!body.ok()) return 0;
  fuzz::NoteAccepted();
  for (const TensorSignature& input : inputs) {
    fuzz::Require(body->inputs.at(input.name).shape()[0] == body->rows, "every input has all rows");
  }
  // What was read is written so that it is read again.
  const serving::Prediction prediction{std::make_shared<const NamedTensors>(body->inputs), 0, body->rows};
  std::string written = serving::PredictionsJson(prediction, serving::BodyForm::kColumns);
  written.replace(written.find("outputs"), 7, "inputs");
  const auto again = serving::ParsePredictBody(written, inputs);
  fuzz::Require(again.ok(), "numbers that were written can be read");
  fuzz::RequireEqual(
      serving::PredictionsJson({std::make_shared<const NamedTensors>(again->inputs), 0, again->rows}, body->form),
      serving::PredictionsJson(prediction, body->form), "reading and writing numbers");
  return 0;
}
