// Records whether losses and metrics use their scores as logits or as probabilities. The code that calls a model_fn
// collects these records, and reports scores in the graph that are certainly of the other kind. Internal to frontends/
// and estimator/.
#ifndef TANDEM_FRONTENDS_SCORE_USES_H_
#define TANDEM_FRONTENDS_SCORE_USES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

enum class ScoreKind {
  kLogits,         // scores that Softmax or Sigmoid would turn into probabilities
  kProbabilities,  // scores in [0, 1], whose logarithm a loss computes
  kThresholded,    // scores that a metric compares with thresholds in (0, 1)
};

struct ScoreUse {
  ScoreKind kind;
  std::string op;      // name of the loss or metric, "BinaryCrossEntropy"
  std::string origin;  // "file:line" of the call of the loss or metric
  std::string tensor;  // name of the tensor of scores
  // Another way for the user to repair the mistake, as a phrase: "leave from_logits out".
  std::string remedy;
};

// Collects the uses of scores that losses and metrics record (NoteScores) in this thread while this object exists.
// While several such objects exist in a thread, only the newest collects; its records do not reach the others.
class ScoreUses {
 public:
  ScoreUses();
  ~ScoreUses();
  ScoreUses(const ScoreUses&) = delete;
  ScoreUses& operator=(const ScoreUses&) = delete;

  const std::vector<ScoreUse>& uses() const { return uses_; }

 private:
  friend void NoteScores(ScoreKind kind, absl::string_view op, const Tensor& scores, absl::string_view remedy,
                         SourceLocation loc);
  ScoreUses* const outer_;
  std::vector<ScoreUse> uses_;
};

// Records that the loss or metric `op` uses `scores` as `kind` says, in this thread's newest ScoreUses. Does nothing if
// the thread has no ScoreUses, or if `scores` carries an error.
void NoteScores(ScoreKind kind, absl::string_view op, const Tensor& scores, absl::string_view remedy,
                SourceLocation loc);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SCORE_USES_H_
