// How the summaries of a model_fn lie in its graph. Internal to frontends/ and estimator/.
//
// A summary is an op without users, a td.reshape of the value to its own shape or a text's constant, in a scope that
// says what it is: "scope/summary:histogram:hidden/Reshape". Who wants its value fetches the op; in a program for which
// nobody does, nothing of it is left.
#ifndef TANDEM_FRONTENDS_SUMMARY_MARKS_H_
#define TANDEM_FRONTENDS_SUMMARY_MARKS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem {

enum class SummaryKind { kScalar, kHistogram, kImage, kText, kLearningRate };

struct ModelSummary {
  SummaryKind kind = SummaryKind::kScalar;
  std::string tag;       // as TensorBoard shows it
  std::string op;        // to fetch; perhaps that of another summary of the same value
  int max_outputs = 0;   // of kImage
  std::string origin;    // "file:line"
  std::string variable;  // whose value it is; known to who looks at the graph's ops (ModeProgram::summaries)
};

// All of a graph, by the ops' names. Learning rates are those of its optimizers.
std::vector<ModelSummary> ModelSummariesOf(const GraphBuilder& graph);

// What the name of an op says; nothing for an op that is no summary. Without `origin` and `variable`.
std::optional<ModelSummary> ParseSummaryMark(absl::string_view op);

// The text of a fetched kText.
std::string TextOf(const HostTensor& value);

// Marks `rate`, a float32 scalar, as a learning rate: "learning_rate" for the first of the graph, then
// "learning_rate_1" and so on.
void MarkLearningRate(const Tensor& rate, SourceLocation loc);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SUMMARY_MARKS_H_
