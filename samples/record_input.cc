#include "samples/record_input.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/fashion_mnist.h"

namespace tandem {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kFilesAtATime = 4;

// Converts "image", strings [n] of raw pixels, to float32 [n,28,28,1], and "label", int64 [n], to int32 [n] or one-hot
// float32 [n,10].
absl::StatusOr<Element> Decode(const Element& batch, bool one_hot) {
  const HostTensor images = batch["image"], labels = batch["label"];
  const int64_t n = images.num_elements();
  HostTensor pixels(DType::kUInt8, {n, kSide, kSide}), bytes(DType::kUInt8, {n});
  for (int64_t i = 0; i < n; ++i) {
    const absl::string_view image = images.string(i);
    const int64_t label = labels.values<int64_t>()[i];
    if (image.size() != kSide * kSide) {
      return absl::InvalidArgumentError(
          absl::StrCat("the image in row ", i, " has ", image.size(), " bytes, not those of 28 x 28 pixels"));
    }
    if (label < 0 || label >= kFashionMnistClasses) {
      return absl::OutOfRangeError(
          absl::StrCat("the label in row ", i, " is ", label, ", and there are ", kFashionMnistClasses, " classes"));
    }
    std::memcpy(pixels.data<uint8_t>() + i * kSide * kSide, image.data(), image.size());
    bytes.data<uint8_t>()[i] = static_cast<uint8_t>(label);
  }
  TD_ASSIGN_OR_RETURN(HostTensor scaled, ScaledImages(pixels));
  TD_ASSIGN_OR_RETURN(HostTensor classes, one_hot ? OneHotLabels(bytes) : Int32Labels(bytes));
  Element out;
  out.Set("image", std::move(scaled));
  out.Set("label", std::move(classes));
  return out;
}

}  // namespace

InputFn RecordInputFn(std::string pattern, bool one_hot, const TrainInputOptions& options) {
  return [pattern = std::move(pattern), one_hot, options](const InputContext& context) -> absl::StatusOr<Dataset> {
    const auto records = [](const Element& file) -> absl::StatusOr<Dataset> {
      return Dataset::TFRecord({file.Get<std::string>("file")}, {.compression = Compression::kGzip});
    };
    Dataset dataset =
        Dataset::ListFiles({pattern}).Interleave(records, {.cycle_length = kFilesAtATime, .num_parallel_calls = kAuto});
    if (context.num_input_pipelines > 1) {
      dataset = dataset.Shard(context.num_input_pipelines, context.input_pipeline_id);
    }
    if (options.shuffle_buffer > 0) dataset = dataset.Shuffle(options.shuffle_buffer, {.seed = options.seed});
    const ComponentSpec label = one_hot ? ComponentSpec{"label", DType::kFloat32, {kBatch, kFashionMnistClasses}}
                                        : ComponentSpec{"label", DType::kInt32, {kBatch}};
    return dataset.Repeat(options.epochs)
        .Batch(options.batch_size)
        .ParseExample({FeatureSpec::FixedLen("image", DType::kString), FeatureSpec::FixedLen("label", DType::kInt64)},
                      {.num_parallel_calls = kAuto})
        .Map([one_hot](const Element& batch) { return Decode(batch, one_hot); },
             {.spec = {{"image", DType::kFloat32, {kBatch, kSide, kSide, 1}}, label}})
        .Prefetch();
  };
}

}  // namespace tandem
