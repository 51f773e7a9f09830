// ServingInput: what an exported model is given.
#ifndef TANDEM_ESTIMATOR_SERVING_INPUT_H_
#define TANDEM_ESTIMATOR_SERVING_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/element.h"
#include "estimator/estimator_spec.h"

namespace tandem {

// The features, or an input_fn that has them: one of the two.
struct ServingInput {
  // Batched, so that shape[0] is kBatch: {{"image", DType::kFloat32, {kBatch, 28, 28, 1}}}.
  std::vector<ComponentSpec> features = {};
  // Its dataset's features are taken, without the labels; no example is read.
  InputFn input_fn = nullptr;
  // Rows that the program computes at once. It takes any number of rows all the same: more of them in several steps.
  // 0: as many as the batches of input_fn have over all replicas, or else 32. With as many rows as Predict has in a
  // round, predictions have the bits of Predict's.
  int64_t rows_per_step = 0;

  // What is wrong with it. `what` stands before the message: "ServingInput" or the name of an exporter.
  absl::Status Validate(const std::string& what = "ServingInput") const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_INPUT_H_
