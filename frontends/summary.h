// Summaries: values of a model that TensorBoard shows (docs/guide/tensorboard.md).
//
//   summary::Scalar("logits/largest", ReduceMax(Abs(logits), {0, 1}));
//   summary::Histogram("hidden", hidden);
//   summary::Image("input", features["image"], {.max_outputs = 2});
//   summary::Text(features.graph(), "note", "first try with **two** layers");
//
// In training, summaries are written after the first step and then every RunConfig.save_summary_steps steps; the
// tensors are fetched only in these steps. The summary of a variable shows its value after the step. In evaluation,
// each summary is written once. In mode predict there are no summaries.
//
// Each name may be used only once. A second summary of any kind with the same name is an error that names both source
// lines, and so is a name that training or evaluation uses itself ("loss", "learning_rate", the name of a metric).
// Inside a NameScope the name gets the scope as prefix. Errors are recorded in the graph, like those of ops.
#ifndef TANDEM_FRONTENDS_SUMMARY_H_
#define TANDEM_FRONTENDS_SUMMARY_H_

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/graph_builder.h"
#include "tandem/graph/tensor.h"

namespace TANDEM_API tandem {
namespace summary {

// A curve. `tensor` is one number, of shape [] or [1]. It must be the same on all replicas; if each replica computes a
// floating-point value from its own rows, the mean over the replicas is shown. In evaluation, the mean over the batches
// is shown, weighted by their numbers of examples.
void Scalar(absl::string_view name, const Tensor& tensor, SourceLocation loc = SourceLocation::Current());

// The distribution of a tensor's elements, in TensorFlow's buckets. `tensor` may have any shape, but not type bool. If
// it is batched, all rows of the global batch count (with several workers, the chief's rows); elements that are not
// finite do not. In evaluation, the distribution is that of the first batch.
void Histogram(absl::string_view name, const Tensor& tensor, SourceLocation loc = SourceLocation::Current());

struct ImageOptions {
  int max_outputs = 3;  // number of images, from the first rows of the batch; at least 1
};
// Pictures. `tensor`: [b, height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA) channels, uint8, or
// floating-point numbers from 0 to 1; numbers outside count as the nearer end, and NaN as 0. In evaluation, the
// pictures are those of the first batch.
void Image(absl::string_view name, const Tensor& tensor, const ImageOptions& options = {},
           SourceLocation loc = SourceLocation::Current());

// A text that TensorBoard shows as Markdown, at most 65,535 bytes of UTF-8. Written with the first summaries of a
// training, and with each evaluation. `graph` is that of the model_fn, features.graph().
void Text(GraphBuilder* graph, absl::string_view name, absl::string_view text,
          SourceLocation loc = SourceLocation::Current());

}  // namespace summary
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_SUMMARY_H_
