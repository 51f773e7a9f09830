// Model: predicts with trained weights, without model_fn and without the compiler.
//
//   TD_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, LoadModel("exports"));
//   TD_ASSIGN_OR_RETURN(NamedTensors outputs, model->Predict({{"image", images}}));
//   outputs["logits"]
#ifndef TANDEM_ESTIMATOR_SERVING_MODEL_H_
#define TANDEM_ESTIMATOR_SERVING_MODEL_H_

#include <cstdint>
#include <map>
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
  // How many calls of Predict may run at the same time; more of them wait. Each needs memory for what it computes. 0:
  // as many as threads, with which every core is busy.
  int calls = 0;
  // Of a checkpoint: use moving averages in place of weights that have one. Exported weights are what they are.
  bool use_moving_average = true;
};

// A trained model with its weights in memory, which LoadModel or Estimator::MakePredictor made. It depends on nothing
// any more: no call reads a file, writes a log line or starts a thread, and newer exports or checkpoints change
// nothing. A process may have any number of them, each with threads of its own.
//
// Thread-safe: several calls run at the same time, without waiting for each other up to LoadModelOptions.calls of them.
// One call alone uses all threads; of several, each uses its caller's thread and those that no other one uses. They
// share the weights. A model may be destroyed when its own calls have returned.
class Model {
 public:
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Returns predictions for a batch of any number of rows, including none: `inputs` must have [rows, ...] for each of
  // inputs(), and the result has [rows, ...] for each of outputs(). Few rows cost what these rows take, however many
  // the program can compute at once (on a CPU).
  //
  // The same call returns the same bits every time, also with random numbers in the model, for any number of threads
  // and whatever else runs. A row's results do not depend on the other rows, nor on how many there are, unless the
  // model has random numbers or sums over the batch.
  //
  // InvalidArgument, with the input's name and what is expected, for an input that is missing, unknown, or of another
  // type or shape; OutOfRange for an integer that the model uses as an index and has no row for.
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs);

  // The names, types and shapes of what Predict takes and returns.
  const std::vector<TensorSignature>& inputs() const;
  const std::vector<TensorSignature>& outputs() const;
  // The number of steps that the weights were trained for.
  int64_t global_step() const;
  // The metrics of the evaluation that the model was exported after; empty if there was none.
  const std::map<std::string, double>& metrics() const;
  // The exported model or the checkpoint that the weights are from; "" for initial values and for weights that were in
  // memory only.
  const std::string& path() const;

 private:
  friend class ModelMaker;
  class Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// True if there is an exported model at `path` for LoadModel.
bool HasExport(const std::string& path);

// `path` is one of:
// - what ExportModel returned, or a directory of several exports, of which the newest is loaded;
// - a checkpoint, or a model_dir, whose newest checkpoint is loaded. The program is the newest one of mode predict
// under
//   the model_dir's `compiled` that has the checkpoint's variables: Predict, MakePredictor and ExportModel put it
//   there.
//
// All bytes are compared with their checksums before any is used. An export or checkpoint that is replaced meanwhile is
// loaded again. Errors: NotFound if there is no model; DataLoss (exit code 65), naming the file, if one is damaged;
// Unavailable (exit code 75) if it is replaced again and again; PermissionDenied (exit code 74) if other users may
// write the program, which is code (docs/guide/trust.md); FailedPrecondition on a machine that it was not compiled for,
// and for a checkpoint whose model has no compiled program, or one that needs numbers that model_fn gives;
// InvalidArgument for an empty path and impossible numbers of threads or calls.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const std::string& path, const LoadModelOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_MODEL_H_
