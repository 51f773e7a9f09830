// LoadModel: predicts with an exported model, without its model_fn and without the compiler.
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
#include "tandem/base/api.h"
#include "tandem/base/named_tensors.h"
#include "tandem/estimator/serving/tensor_signature.h"

namespace TANDEM_API tandem {

struct LoadModelOptions {
  int threads = 0;  // number of threads; 0: that of the machine's cores
};

// An exported model with its weights in memory. Predict may be called from several threads; calls wait for each other.
class Model {
 public:
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Returns predictions for a batch of any number of rows, including none: `inputs` must have [rows, ...] for each of
  // inputs(), and the result has [rows, ...] for each of outputs(). InvalidArgument, with the input's name and what is
  // expected, for an input that is missing, unknown, or of another type or shape; OutOfRange for an integer that the
  // model uses as an index and has no row for.
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs);

  // The names, types and shapes of what Predict takes and returns.
  const std::vector<TensorSignature>& inputs() const;
  const std::vector<TensorSignature>& outputs() const;
  // The number of steps that the weights were trained for.
  int64_t global_step() const;
  // The metrics of the evaluation that the model was exported after; empty if there was none.
  const std::map<std::string, double>& metrics() const;
  // The directory from which the model was loaded.
  const std::string& path() const;

 private:
  friend absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string&, const LoadModelOptions&);
  class Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// True if there is an exported model at `path` for LoadModel.
bool HasExport(const std::string& path);

// `path` is what ExportModel returned, or a directory of several exports, of which the newest is loaded. All bytes are
// compared with their checksums before any is used. An export that is replaced meanwhile is loaded again. Errors:
// NotFound if there is no exported model; DataLoss (exit code 65), naming the file, if one is damaged; Unavailable
// (exit code 75) if it is replaced again and again; PermissionDenied (exit code 74) if other users may write the
// program, which is code (docs/guide/trust.md); FailedPrecondition on a machine that it was not compiled for;
// InvalidArgument for an empty path and an impossible number of threads.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string& path, const LoadModelOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_MODEL_H_
