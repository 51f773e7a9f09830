// A Sequential model under a strategy's scope, trained from compressed TFRecord files: the files are read in turn,
// their examples parsed, scaled, shuffled and batched. tandem-records makes such files of Fashion-MNIST.
#include <cstdio>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_split.h"
#include "tandem/base/program.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/estimator/keras/model.h"
#include "tandem/frontends/keras/layers.h"

ABSL_FLAG(std::string, files, "", "A pattern of TFRecord files with features \"image\" and \"label\", compressed.");
ABSL_FLAG(std::string, devices, "cpu:0,cpu:1", "The devices that train together.");
ABSL_FLAG(int64_t, batch_size, 128, "Images per step, of all devices together.");
ABSL_FLAG(int64_t, epochs, 2, "Passes over the files.");

namespace tandem {
namespace {

absl::Status Scale(const Element& example, absl::Span<const ComponentBuffer> out) {
  const auto pixels = example.components[0].string();
  if (pixels.size() != 28 * 28) return absl::InvalidArgumentError("the image has not the bytes of 28 x 28 pixels");
  float* image = out[0].data<float>();
  for (size_t i = 0; i < pixels.size(); ++i) image[i] = static_cast<float>(static_cast<uint8_t>(pixels[i])) / 255;
  out[1].data<int64_t>()[0] = example.components[1].data<int64_t>()[0];
  return absl::OkStatus();
}

absl::Status Run() {
  keras::StrategyScope scope(MirroredStrategy(absl::StrSplit(absl::GetFlag(FLAGS_devices), ',')));
  keras::Sequential model;
  model.Add(keras::layers::Flatten({.input_shape = {28, 28, 1}}));
  model.Add(keras::layers::Dense(128, {.activation = "relu"}));
  model.Add(keras::layers::Dense(10, {.activation = "softmax"}));
  model.Compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});

  const Dataset train_dataset =
      Dataset::ListFiles({absl::GetFlag(FLAGS_files)})
          .Interleave([](const Element& file) -> absl::StatusOr<Dataset> {
            return Dataset::TFRecord({file.Get<std::string>("file")}, {.compression = Compression::kGzip});
          })
          .ParseExample({FeatureSpec::FixedLen("image", DType::kString), FeatureSpec::FixedLen("label", DType::kInt64)})
          .MapInto(Scale, {.num_parallel_calls = kAuto,
                           .spec = {{"image", DType::kFloat32, {28, 28, 1}}, {"label", DType::kInt64, {}}}})
          .Shuffle(10000)
          .Batch(absl::GetFlag(FLAGS_batch_size))
          .Prefetch();
  return model.Fit(train_dataset, {.epochs = absl::GetFlag(FLAGS_epochs)}).status();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "Trains a Sequential model from TFRecord files.", tandem::Run);
}
