// The representation of a model_fn's summaries in its graph. Internal to frontends/ and estimator/.
//
// A summary is an op without users, a td.reshape of the value to its own shape or a text's constant, in a scope that
// describes it: "scope/summary:histogram:hidden/Reshape". Code that needs the value fetches the op; a program in which
// nobody fetches it contains nothing of it.
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
  std::string tag;      // name in TensorBoard
  std::string op;       // the op to fetch; may belong to another summary of the same value
  int max_outputs = 0;  // only for kImage
  std::string origin;   // "file:line"
  // the variable whose value it is; set only by code that looks at the graph's ops (ModeProgram::summaries)
  std::string variable;
};

// Returns all summaries of a graph, by the ops' names. Learning rates are those of its optimizers.
std::vector<ModelSummary> ModelSummariesOf(const GraphBuilder& graph);

// Parses the name of an op; nullopt for an op that is no summary. Sets neither `origin` nor `variable`.
std::optional<ModelSummary> ParseSummaryMark(absl::string_view op);

// Returns the text of a fetched kText summary.
std::string TextOf(const HostTensor& value);

// Marks `rate`, a float32 scalar, as a learning rate: "learning_rate" for the first in the graph, then
// "learning_rate_1" and so on.
void MarkLearningRate(const Tensor& rate, SourceLocation loc);

}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SUMMARY_MARKS_H_
