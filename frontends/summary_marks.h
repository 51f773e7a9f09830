// The representation of a model_fn's summaries in its graph. Internal to frontends/ and estimator/.
//
// A summary is an op whose result no other op uses: a td.reshape of the value to its own shape, or the constant of a
// text. Its name scope describes it: "scope/summary:histogram:hidden/Reshape". Code that needs the value fetches the
// op. A program that does not fetch it contains no trace of it.
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
  std::string tag;  // name in TensorBoard
  // The op to fetch. Summaries of the same value may share one op.
  std::string op;
  int max_outputs = 0;  // only for kImage: number of images to write
  std::string origin;   // "file:line" of the user's call
  // The variable that the summary shows, if it shows one. Only code that reads the graph's ops (ModeProgram::summaries)
  // sets it.
  std::string variable;
};

// Returns all summaries of a graph, read from the names of its ops. They include the learning rates of its optimizers.
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
