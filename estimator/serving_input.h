// ServingInput: describes the input of an exported model.
#ifndef TANDEM_ESTIMATOR_SERVING_INPUT_H_
#define TANDEM_ESTIMATOR_SERVING_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/data/element.h"
#include "tandem/estimator/model/estimator_spec.h"

namespace TANDEM_API tandem {

// Either the features, or an input_fn whose dataset has them.
struct ServingInput {
  // Batched features, so shape[0] is kBatch: {{"image", DType::kFloat32, {kBatch, 28, 28, 1}}}.
  std::vector<ComponentSpec> features = {};
  // The features of its dataset are used, without the labels; no example is read.
  InputFn input_fn = nullptr;
  // Rows that the program computes at once. Calls may have any number of rows: more rows take several steps. 0: as many
  // as the batches of input_fn have over all replicas or, without input_fn, 32. If it is the number of rows in a step
  // of Predict, over all replicas, predictions have the same bits as Predict's.
  int64_t rows_per_step = 0;

  // Returns InvalidArgument if this object is not valid. `what` begins the message: "ServingInput" or the name of an
  // exporter.
  absl::Status Validate(const std::string& what = "ServingInput") const;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_INPUT_H_
