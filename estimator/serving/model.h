// LoadModel: predictions of an exported model, without its model_fn and without the compiler.
//
//   TD_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, LoadModel("exports"));
//   TD_ASSIGN_OR_RETURN(NamedTensors outputs, model->Predict({{"image", images}}));
//   outputs["logits"]
#ifndef TANDEM_ESTIMATOR_SERVING_MODEL_H_
#define TANDEM_ESTIMATOR_SERVING_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "estimator/serving/tensor_signature.h"

namespace tandem {

struct LoadModelOptions {
  int threads = 0;  // 0 takes the machine's number of cores
};

// An exported model with its weights in memory. Predict may be called from several threads; calls wait for each other.
class Model {
 public:
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Predictions for a batch of any number of rows, also none: `inputs` has [rows, ...] for every one of inputs(), the
  // result [rows, ...] for every one of outputs(). InvalidArgument, naming it and what is expected, for an input that
  // is missing, unknown, or of another type or shape; OutOfRange for an integer that the model takes as an index and
  // has no row for.
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs);

  const std::vector<TensorSignature>& inputs() const;
  const std::vector<TensorSignature>& outputs() const;
  // That the weights were trained to.
  int64_t global_step() const;
  // Of the evaluation that the model was exported after; empty when there was none.
  const std::map<std::string, double>& metrics() const;
  // The directory that it came from.
  const std::string& path() const;

 private:
  friend absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string&, const LoadModelOptions&);
  class Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Whether LoadModel would find something at `path`.
bool HasExport(const std::string& path);

// `path`: what ExportModel returned, or a directory of several exports, of which the newest is taken. All bytes are
// compared with their checksums before any is used. An export that another one replaces meanwhile is loaded again.
// Errors: NotFound when there is no exported model; DataLoss (exit code 65), naming the file, when one is damaged;
// Unavailable (exit code 75) when it is replaced again and again; PermissionDenied (exit code 74) when somebody else
// may write the program, which is code (docs/guide/trust.md); FailedPrecondition for another machine than it was
// compiled for; InvalidArgument for an empty path and a number of threads that cannot be.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string& path, const LoadModelOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_MODEL_H_
