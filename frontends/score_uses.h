// Records whether losses and metrics take their scores as logits or as probabilities. The caller of a model_fn collects
// this, and finds in the graph scores that are surely of the other kind. Internal to frontends/ and estimator/.
#ifndef TANDEM_FRONTENDS_SCORE_USES_H_
#define TANDEM_FRONTENDS_SCORE_USES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

enum class ScoreKind {
  kLogits,         // inputs of Softmax or Sigmoid
  kProbabilities,  // in [0, 1]; a loss takes their logarithm
  kThresholded,    // a metric compares them with thresholds in (0, 1)
};

struct ScoreUse {
  ScoreKind kind;
  std::string op;      // "BinaryCrossEntropy"
  std::string origin;  // "file:line" of its call
  std::string tensor;  // the name of the scores
  // Another remedy for the user, as a phrase: "leave from_logits out".
  std::string remedy;
};

// Collects the uses that this thread notes during its lifetime; if there are several, only the innermost does.
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

// Does nothing if there is no ScoreUses, and for a tensor with an error.
void NoteScores(ScoreKind kind, absl::string_view op, const Tensor& scores, absl::string_view remedy,
                SourceLocation loc);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SCORE_USES_H_
