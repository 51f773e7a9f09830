#include "frontends/summary.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/logging.h"
#include "frontends/check.h"
#include "frontends/summary_marks.h"
#include "graph/ops.h"

namespace tandem {
namespace {

constexpr absl::string_view kMark = "summary:";
constexpr size_t kMaxTextBytes = 65535;

struct KindName {
  SummaryKind kind;
  absl::string_view name;
};
constexpr KindName kKinds[] = {{SummaryKind::kScalar, "scalar"},
                               {SummaryKind::kHistogram, "histogram"},
                               {SummaryKind::kImage, "image"},
                               {SummaryKind::kText, "text"},
                               {SummaryKind::kLearningRate, "rate"}};

// Returns the name scope that marks an op as a summary. `number` is the option max_outputs of an image.
std::string ScopeOf(SummaryKind kind, int number, absl::string_view name) {
  const KindName* const found =
      std::find_if(std::begin(kKinds), std::end(kKinds), [kind](const KindName& known) { return known.kind == kind; });
  return absl::StrCat(kMark, found->name, ":", number, ":", name);
}

// Returns the graph of the tensor that a summary shows; null after an error.
GraphBuilder* Begin(const char* op, absl::string_view name, const Tensor& tensor, SourceLocation loc) {
  Tensor failed;
  GraphBuilder* const graph = frontends::CommonGraph(op, {{"tensor", tensor}}, loc, &failed);
  // A summary returns no tensor that could carry the error. If there is no graph to record it in, it is logged.
  if (graph == nullptr && tensor.graph() == nullptr) {
    TD_LOG(WARNING) << failed.status().message() << "; the summary \"" << name << "\" is left out";
  }
  if (graph == nullptr || !name.empty()) return graph;
  graph->FailAt(op, "the name is empty; give it one", loc);
  return nullptr;
}

// Records an error if the graph has another summary with the same name as `mark`, the op that was just made.
void CheckUnique(const char* op, GraphBuilder* graph, const Tensor& mark, SourceLocation loc) {
  if (!mark.ok()) return;
  const std::optional<ModelSummary> made = ParseSummaryMark(mark.name());
  for (const ModelSummary& other : ModelSummariesOf(*graph)) {
    if (!made.has_value() || other.op == made->op || other.tag != made->tag) continue;
    graph->FailAt(op,
                  absl::StrCat("there is a summary \"", other.tag, "\" already, from ", other.origin,
                               "; choose another name, or build it inside of a NameScope"),
                  loc);
    return;
  }
}

// Makes the op that marks a checked value as a summary.
void Mark(const char* op, SummaryKind kind, int number, absl::string_view name, const Tensor& value,
          SourceLocation loc) {
  GraphBuilder* const graph = value.graph();
  if (graph->VariesByReplica(value) && !frontends::IsFloat(value.dtype())) {
    graph->FailAt(
        op,
        absl::StrCat("`tensor` is \"", value.name(), "\" at ", value.origin(),
                     ", which every replica computes from its own rows, and a mean over the replicas is not a ",
                     Name(value.dtype()), "; Cast it to float32, or take CrossReplicaSum of it"),
        loc);
    return;
  }
  const NameScope scope(graph, ScopeOf(kind, number, name));
  // The op is made directly, because Reshape of ops.h makes no op if the shape stays the same.
  CheckUnique(op, graph, graph->Emit("reshape", {value}, {{"shape", value.shape()}}, loc), loc);
}

}  // namespace

std::optional<ModelSummary> ParseSummaryMark(absl::string_view op) {
  size_t at = op.find(kMark);
  while (at != absl::string_view::npos && at > 0 && op[at - 1] != '/') at = op.find(kMark, at + 1);
  const size_t end = op.rfind('/');
  if (at == absl::string_view::npos || end == absl::string_view::npos || end < at) return std::nullopt;
  ModelSummary summary;
  absl::string_view mark = op.substr(at + kMark.size(), end - at - kMark.size());
  for (const KindName& known : kKinds) {
    if (!absl::ConsumePrefix(&mark, known.name)) continue;
    const size_t name = mark.find(':', 1);
    if (!absl::StartsWith(mark, ":") || name == absl::string_view::npos) return std::nullopt;
    if (!absl::SimpleAtoi(mark.substr(1, name - 1), &summary.max_outputs)) return std::nullopt;
    summary.kind = known.kind;
    // The scope of a learning rate is dropped, because it only depends on where Minimize was called.
    const absl::string_view scope = known.kind == SummaryKind::kLearningRate ? "" : op.substr(0, at);
    summary.tag = absl::StrCat(scope, mark.substr(name + 1));
    summary.op = std::string(op);
    return summary;
  }
  return std::nullopt;
}

std::vector<ModelSummary> ModelSummariesOf(const GraphBuilder& graph) {
  std::vector<ModelSummary> summaries;
  for (const std::string& name : graph.names()) {
    std::optional<ModelSummary> summary = ParseSummaryMark(name);
    if (!summary.has_value()) continue;
    summary->origin = graph.Find(name).origin();
    summaries.push_back(*std::move(summary));
  }
  return summaries;
}

std::string TextOf(const HostTensor& value) {
  const auto bytes = value.values<uint8_t>();
  // The constant of a text has an extra last byte, because a constant cannot be empty.
  return std::string(bytes.begin(), bytes.empty() ? bytes.end() : bytes.end() - 1);
}

void MarkLearningRate(const Tensor& rate, SourceLocation loc) {
  if (!rate.ok()) return;
  int count = 0;
  for (const ModelSummary& summary : ModelSummariesOf(*rate.graph())) {
    if (summary.kind == SummaryKind::kLearningRate) ++count;
  }
  const std::string name = count == 0 ? "learning_rate" : absl::StrCat("learning_rate_", count);
  const NameScope scope(rate.graph(), ScopeOf(SummaryKind::kLearningRate, 0, name));
  rate.graph()->Emit("reshape", {rate}, {{"shape", Shape{}}}, loc);
}

namespace summary {

void Scalar(absl::string_view name, const Tensor& tensor, SourceLocation loc) {
  constexpr char kOp[] = "summary::Scalar";
  GraphBuilder* const graph = Begin(kOp, name, tensor, loc);
  if (graph == nullptr) return;
  if (!tensor.shape().empty() && tensor.shape() != Shape{1}) {
    graph->FailAt(kOp,
                  absl::StrCat("\"", name, "\" must be one number, got ", frontends::TypeString(tensor), " from ",
                               tensor.origin(), "; reduce it, for example with ReduceMean, or take summary::Histogram"),
                  loc);
    return;
  }
  Mark(kOp, SummaryKind::kScalar, 0, name, tensor, loc);
}

void Histogram(absl::string_view name, const Tensor& tensor, SourceLocation loc) {
  constexpr char kOp[] = "summary::Histogram";
  GraphBuilder* const graph = Begin(kOp, name, tensor, loc);
  if (graph == nullptr) return;
  if (tensor.dtype() == DType::kBool) {
    graph->FailAt(kOp,
                  absl::StrCat("\"", name, "\" must be of a number type, got ", frontends::TypeString(tensor), " from ",
                               tensor.origin(), "; convert it with Cast(x, DType::kFloat32)"),
                  loc);
    return;
  }
  Mark(kOp, SummaryKind::kHistogram, 0, name, tensor, loc);
}

void Image(absl::string_view name, const Tensor& tensor, const ImageOptions& options, SourceLocation loc) {
  constexpr char kOp[] = "summary::Image";
  GraphBuilder* const graph = Begin(kOp, name, tensor, loc);
  if (graph == nullptr) return;
  auto fail = [&](absl::string_view wanted, absl::string_view remedy) {
    graph->FailAt(kOp,
                  absl::StrCat("\"", name, "\" must be ", wanted, ", got ", frontends::TypeString(tensor), " from ",
                               tensor.origin(), "; ", remedy),
                  loc);
  };
  const Shape shape = tensor.shape();
  if (shape.size() != 4 || shape[0] != kBatch) {
    return fail("of shape [b, height, width, channels]", "give it that shape with Reshape");
  }
  if (shape[3] != 1 && shape[3] != 3 && shape[3] != 4) {
    return fail("of 1, 3 or 4 channels (grey, RGB, RGBA)", "choose some of them with Slice, or take their mean");
  }
  if (!frontends::IsFloat(tensor.dtype()) && tensor.dtype() != DType::kUInt8) {
    return fail("uint8 from 0 to 255 or floating-point from 0 to 1", "Cast it to float32 and scale it");
  }
  if (options.max_outputs < 1) {
    graph->FailAt(kOp, absl::StrCat("`max_outputs` must be at least 1, got ", options.max_outputs), loc);
    return;
  }
  Mark(kOp, SummaryKind::kImage, options.max_outputs, name, tensor, loc);
}

void Text(GraphBuilder* graph, absl::string_view name, absl::string_view text, SourceLocation loc) {
  constexpr char kOp[] = "summary::Text";
  if (graph == nullptr) {
    TD_LOG(WARNING) << frontends::WithoutGraph(kOp, "`graph` is null; give it features.graph()", loc).status().message()
                    << "; the summary \"" << name << "\" is left out";
    return;
  }
  if (name.empty()) {
    graph->FailAt(kOp, "the name is empty; give it one", loc);
    return;
  }
  if (text.size() > kMaxTextBytes) {
    graph->FailAt(kOp,
                  absl::StrCat("\"", name, "\" has ", text.size(), " bytes; a text has at most ", kMaxTextBytes,
                               ": split it into several"),
                  loc);
    return;
  }
  const NameScope scope(graph, ScopeOf(SummaryKind::kText, 0, name));
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.push_back(0);
  const int64_t size = static_cast<int64_t>(bytes.size());
  CheckUnique(kOp, graph, graph->Constant(HostTensor::FromVector({size}, bytes), loc), loc);
}

}  // namespace summary
}  // namespace tandem
