// What losses and metrics take their scores for: logits or probabilities. Who calls a model_fn collects it, and sees by
// the graph where scores are surely the others. Internal to frontends/ and estimator/.
#ifndef TANDEM_FRONTENDS_SCORE_USES_H_
#define TANDEM_FRONTENDS_SCORE_USES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

enum class ScoreKind {
  kLogits,         // Softmax or Sigmoid is to come
  kProbabilities,  // in [0, 1]; a loss takes their logarithm
  kThresholded,    // a metric compares them with thresholds in (0, 1)
};

struct ScoreUse {
  ScoreKind kind;
  std::string op;      // "BinaryCrossEntropy"
  std::string origin;  // "file:line" of its call
  std::string tensor;  // the name of the scores
  // What else the caller may do, in the order of the words "leave from_logits out".
  std::string remedy;
};

// Collects the uses that this thread notes while it lives; of several the innermost does.
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

// Does nothing without a collector, and for a tensor with an error.
void NoteScores(ScoreKind kind, absl::string_view op, const Tensor& scores, absl::string_view remedy,
                SourceLocation loc);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SCORE_USES_H_
