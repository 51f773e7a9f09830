#include "samples/fashion_input.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tandem/base/status_macros.h"

namespace tandem {

absl::Status FashionInput::Load() {
  if (images_ != nullptr) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const ImageStream raw, OpenFashionMnistSplit(split_, data_dir_));
  TD_ASSIGN_OR_RETURN(labels_, one_hot_ ? OneHotLabels(raw.labels) : Int32Labels(raw.labels));
  images_ = raw.images;
  images_->FinishInBackground();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> FashionInput::examples() {
  TD_RETURN_IF_ERROR(Load());
  return images_->rows();
}

absl::StatusOr<Dataset> FashionInput::Examples(int64_t count) {
  TD_ASSIGN_OR_RETURN(const int64_t available, examples());
  if (count > available) {
    return absl::InvalidArgumentError(absl::StrCat("there are only ", available, " examples in this set, not ", count));
  }
  Dataset dataset = Dataset::FromTensorSlices({{"image", images_->tensor()}, {"label", labels_}},
                                              [images = images_](int64_t rows) { return images->WaitForRows(rows); });
  return count < 0 ? dataset : dataset.Take(count);
}

Dataset WithScaledImages(const Dataset& batches) {
  std::vector<ComponentSpec> spec = batches.spec();
  // With another size the dataset is in error, which Map passes on.
  if (spec.size() == 2) spec[0] = {"image", DType::kFloat32, {kBatch, 28, 28, 1}};
  return batches.Map(
      [](const Element& batch) -> absl::StatusOr<Element> {
        TD_ASSIGN_OR_RETURN(HostTensor images, ScaledImages(batch["image"]));
        Element scaled = batch;
        scaled.Set("image", std::move(images));
        return scaled;
      },
      {.spec = std::move(spec)});
}

InputFn TrainInputFn(std::shared_ptr<FashionInput> input, const TrainInputOptions& options) {
  return [input = std::move(input), options](const InputContext& context) -> absl::StatusOr<Dataset> {
    TD_ASSIGN_OR_RETURN(const int64_t examples, input->examples());
    if (options.batch_size > examples) {
      return absl::InvalidArgumentError(absl::StrCat("batch size ", options.batch_size, " is larger than the ",
                                                     examples, " training examples; choose a smaller --batch_size"));
    }
    TD_ASSIGN_OR_RETURN(Dataset dataset, input->Examples());
    if (context.num_input_pipelines > 1) {
      dataset = dataset.Shard(context.num_input_pipelines, context.input_pipeline_id);
    }
    if (options.shuffle_buffer > 0) dataset = dataset.Shuffle(options.shuffle_buffer, {.seed = options.seed});
    return WithScaledImages(dataset.Repeat(options.epochs).Batch(options.batch_size)).Prefetch();
  };
}

InputFn EvalInputFn(std::shared_ptr<FashionInput> input, int64_t batch_size, int64_t count) {
  return [input = std::move(input), batch_size, count](const InputContext& context) -> absl::StatusOr<Dataset> {
    TD_ASSIGN_OR_RETURN(const Dataset dataset, input->Examples(count));
    return WithScaledImages(dataset.Batch(batch_size)).Prefetch();
  };
}

absl::StatusOr<EvalExamples> ParseEvalExamples(const std::string& text) {
  EvalExamples result;
  if (text == "test") return result;
  absl::string_view rest = text;
  result.split = FashionMnistSplit::kTrain;
  if (absl::ConsumePrefix(&rest, "train:") && absl::SimpleAtoi(rest, &result.count) && result.count > 0) return result;
  return absl::InvalidArgumentError(
      absl::StrCat("--eval_examples=", text, ": give \"test\" or \"train:N\" for the first N training examples"));
}

int64_t StepsForEpochs(int64_t examples, int64_t epochs, int64_t batch_size, int64_t replicas) {
  const int64_t batches = (examples * epochs + batch_size - 1) / batch_size;
  return (batches + replicas - 1) / replicas;
}

}  // namespace tandem
