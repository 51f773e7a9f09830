// Tensors in messages of the Open Inference Protocol.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_INFER_TENSORS_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_INFER_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/named_tensors.h"
#include "estimator/serving/server/inference.pb.h"
#include "estimator/serving/server/prediction.h"
#include "estimator/serving/tensor_signature.h"

namespace tandem::serving {

// Returns the protocol's name of a type, such as "FP32".
std::string InferName(DType dtype);

struct InferInputs {
  NamedTensors inputs;  // each of the signature's, with `rows` rows
  int64_t rows = 0;
};

// InvalidArgument, naming the input and what is expected, for what does not fit the signature.
absl::StatusOr<InferInputs> ReadInputs(const inference::ModelInferRequest& request,
                                       const std::vector<TensorSignature>& inputs);

// InvalidArgument if a requested output is none of the model's.
absl::Status CheckOutputs(const inference::ModelInferRequest& request, const std::vector<TensorSignature>& outputs);

// Adds the requested outputs to the answer: as raw bytes if the inputs were, else as contents.
void WriteOutputs(const inference::ModelInferRequest& request, const Prediction& prediction,
                  inference::ModelInferResponse* response);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_INFER_TENSORS_H_
