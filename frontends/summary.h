// Summaries: what a model_fn wants to see of itself in TensorBoard (docs/guide/tensorboard.md).
//
//   summary::Scalar("logits/largest", ReduceMax(Abs(logits), {0, 1}));
//   summary::Histogram("hidden", hidden);
//   summary::Image("input", features["image"], {.max_outputs = 2});
//   summary::Text(features.graph(), "note", "first try with **two** layers");
//
// In training there is a point after the first step and then every RunConfig.save_summary_steps steps, and the tensors
// are fetched in these steps alone; of a variable itself that is the value which the step left. In evaluation there is
// one for each. Mode predict has none.
//
// A name is that of one summary: a second one of it, whatever its kind, is an error with both lines, and so is a name
// that training or evaluation uses itself ("loss", "learning_rate", a metric's). Inside of a NameScope it gets the
// scope as prefix. Errors are kept in the graph, as those of ops are.
#ifndef TANDEM_FRONTENDS_SUMMARY_H_
#define TANDEM_FRONTENDS_SUMMARY_H_

#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::summary {

// A curve. `tensor`: one number, of shape [] or [1]. It must be the same on all replicas; of a floating-point value
// that each replica computes from its own rows, it is the mean over the replicas. In evaluation: the mean over the
// batches, weighted by their examples.
void Scalar(absl::string_view name, const Tensor& tensor, SourceLocation loc = SourceLocation::Current());

// The distribution of a tensor's elements, in TensorFlow's buckets. `tensor`: any shape, not bool. Of a batched one all
// rows of the global batch (of several workers: the chief's own) count; elements that are not finite do not. In
// evaluation: of the first batch.
void Histogram(absl::string_view name, const Tensor& tensor, SourceLocation loc = SourceLocation::Current());

struct ImageOptions {
  int max_outputs = 3;  // images of the first rows of the batch, at least 1
};
// Pictures. `tensor`: [b, height, width, channels] of 1 (grey), 3 (RGB) or 4 (RGBA) channels, uint8, or floating-point
// numbers from 0 to 1; what lies outside is taken for the nearer end, and NaN for 0. In evaluation: of the first batch.
void Image(absl::string_view name, const Tensor& tensor, const ImageOptions& options = {},
           SourceLocation loc = SourceLocation::Current());

// A text that TensorBoard shows as Markdown, at most 65,535 bytes of UTF-8. Written with the first point of a training,
// and with each evaluation. `graph`: that of the model_fn, features.graph().
void Text(GraphBuilder* graph, absl::string_view name, absl::string_view text,
          SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::summary

#endif  // TANDEM_FRONTENDS_SUMMARY_H_
