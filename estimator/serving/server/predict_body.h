// The body of a request for predictions, in the two forms of TensorFlow Serving's REST interface.
//
//   {"instances": [{"image": [[..], ..], "age": 7}, ..]}       rows: an object for each, or its value alone if the
//   model
//   {"instances": [[[..], ..], ..]}                            has one input
//   {"inputs": {"image": [[[..], ..], ..], "age": [7, ..]}}    columns: the whole tensors
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_PREDICT_BODY_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_PREDICT_BODY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/named_tensors.h"
#include "estimator/serving/tensor_signature.h"

namespace tandem::serving {

// Whether a request, and so its answer, is in rows ("instances", "predictions") or columns ("inputs", "outputs").
enum class BodyForm { kRows, kColumns };

struct PredictBody {
  NamedTensors inputs;  // each of the signature's, with `rows` rows
  int64_t rows = 0;
  BodyForm form = BodyForm::kRows;
};

// InvalidArgument, with the place in the body, for what is no JSON or does not fit the signature.
absl::StatusOr<PredictBody> ParsePredictBody(absl::string_view text, const std::vector<TensorSignature>& inputs);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_PREDICT_BODY_H_
