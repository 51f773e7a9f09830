// Mistakes that users make, with the whole message that they get. Every message says what is wrong, where (the user's
// line, a file, a setting), the value, and what to do.
#ifndef TANDEM_TESTS_ERRORS_MISTAKES_H_
#define TANDEM_TESTS_ERRORS_MISTAKES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"

namespace tandem::mistakes {

// When a mistake is found.
enum class Found {
  kBeforeSteps,  // before the first step, or without any
  kLater,        // what only data, a hook or a function of the user's can show
};

struct Mistake {
  const char* name;
  // Makes the mistake in the fresh model_dir `dir` and returns what the user is told: the error of the call, or the
  // warning in the log (see Warned).
  absl::Status (*make)(const std::string& dir);
  // Places in tests/errors are given as the text of the line, "{Tensor y = f(x);}", model_dir as "{dir}", sizes of
  // memory as "# MiB" and the list of a program's buffers as "{buffers}".
  const char* message;
  Found found = Found::kBeforeSteps;
};

// Of the model_fn, and more of it; of the data; of the run; of evaluating, choosing and exporting; of command lines.
const std::vector<Mistake>& ModelMistakes();
const std::vector<Mistake>& GraphMistakes();
const std::vector<Mistake>& InputMistakes();
const std::vector<Mistake>& RunMistakes();
const std::vector<Mistake>& ChoosingMistakes();
const std::vector<Mistake>& ToolMistakes();

// `n` examples of "x" float32 [4], "image" float32 [6,6,1], "id" int32 [] and "label", an int32 class of 3.
Dataset Examples(int64_t n = 16);
// All of them, in batches of 8, once.
InputFn Input(int64_t n = 16);
// The same with features "x" of another width.
InputFn InputOfWidth(int64_t width);

RunConfig Config(const std::string& dir);

using LossFn = std::function<Tensor(const Features& features, const Tensor& labels)>;
// A model_fn that trains on the loss with plain gradient descent, and evaluates it.
ModelFn ModelOf(LossFn loss);
// Three units on "x", cross entropy, accuracy.
EstimatorSpec GoodModel(const Features& features, const Tensor& labels, Mode mode, const Params& params);

// What a training of two steps returns.
absl::Status Train(const std::string& dir, LossFn loss, const InputFn& input = Input());
absl::Status TrainModel(const std::string& dir, ModelFn model, const InputFn& input = Input());
// The same, of what comes before the mistake: its steps are not those of the mistake.
absl::Status Prepared(const std::string& dir, ModelFn model);
// The same of an evaluation.
absl::Status EvaluateModel(const std::string& dir, ModelFn model, const InputFn& input = Input());

// Runs `run`, which must succeed, and returns as an error the one warning of the log that contains `part`. Leaves the
// lines of the log before it.
absl::Status Warned(const char* part, const std::function<absl::Status()>& run);

}  // namespace tandem::mistakes

#endif  // TANDEM_TESTS_ERRORS_MISTAKES_H_
