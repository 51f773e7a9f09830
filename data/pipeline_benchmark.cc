// Prints how fast Fashion-MNIST's training images flow through the input pipeline of scenario S0
// (docs/developers/glossary.md), without and with Prefetch, how long loading, saving and restoring take, and which
// share of a core the pipeline needs at the rate of a training step.
#include <chrono>
#include <cstdio>

#include "data/dataset.h"
#include "data/fashion_mnist.h"

namespace tandem {
namespace {

// Images per second of S0's training step at batch 512 on two idle cores of an Intel Xeon (docs/measurements).
constexpr double kStepRate = 33000;

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Measures the sample's pipeline, which shuffles and batches bytes, then converts them to floats, in its own thread.
absl::Status CpuShare(const LabelledImages& data, int64_t batch_size) {
  absl::StatusOr<HostTensor> labels = OneHotLabels(data.labels);
  if (!labels.ok()) return labels.status();
  const std::vector<ComponentSpec> spec = {{"image", DType::kFloat32, {kBatch, 28, 28, 1}},
                                           {"label", DType::kFloat32, {kBatch, 10}}};
  Dataset dataset = Dataset::FromTensorSlices({{"image", data.images}, {"label", *labels}})
                        .Shuffle(5000)
                        .Repeat(3)
                        .Batch(batch_size)
                        .Map(
                            [](const Element& batch) -> absl::StatusOr<Element> {
                              absl::StatusOr<HostTensor> images = ScaledImages(batch.components[0]);
                              if (!images.ok()) return images.status();
                              return Element{{*std::move(images), batch.components[1]}};
                            },
                            {.spec = spec})
                        .Prefetch();
  absl::StatusOr<std::unique_ptr<Iterator>> it = dataset.MakeIterator();
  if (!it.ok()) return it.status();
  int64_t images = 0;
  for (bool end = false; !end;) {
    Element e;
    if (absl::Status status = (*it)->GetNext(&e, &end); !status.ok()) return status;
    if (!end) images += e.components[0].shape()[0];
  }
  const double per_image = (*it)->ThreadCpuSeconds() / images;
  std::printf("batch %lld: %.3f us of CPU an image; %.2f %% of a core at %.0f images/s\n",
              static_cast<long long>(batch_size), 1e6 * per_image, 100 * per_image * kStepRate, kStepRate);
  return absl::OkStatus();
}

absl::Status Run(const std::string& dir) {
  double t0 = Seconds();
  absl::StatusOr<LabelledImages> data = LoadFashionMnistSplit(FashionMnistSplit::kTrain, dir);
  if (!data.ok()) return data.status();
  double t1 = Seconds();
  HostTensor images = *ScaledImages(data->images), labels = *OneHotLabels(data->labels);
  double t2 = Seconds();
  std::printf("load %.3f s, convert %.3f s\n", t1 - t0, t2 - t1);
  Dataset base = Dataset::FromTensorSlices({{"image", images}, {"label", labels}}).ShuffleAndRepeat(5000, 3).Batch(128);
  for (const Dataset& dataset : {base, base.Prefetch(2)}) {
    std::unique_ptr<Iterator> it = *dataset.MakeIterator();
    int64_t n = 0;
    double start = Seconds();
    for (;;) {
      Element e;
      bool end = false;
      absl::Status status = it->GetNext(&e, &end);
      if (!status.ok()) return status;
      if (end) break;
      n += e.components[0].shape()[0];
      if (n == 128 * 700) {
        double s0 = Seconds();
        std::string state = *it->SaveState();
        double s1 = Seconds();
        status = (*dataset.MakeIterator())->RestoreState(state);
        if (!status.ok()) return status;
        std::printf("save %.0f us, restore %.0f us, state %zu bytes\n", 1e6 * (s1 - s0), 1e6 * (Seconds() - s1),
                    state.size());
      }
    }
    std::printf("%.0f images/s\n", n / (Seconds() - start));
  }
  for (int64_t batch : {64, 512}) {
    absl::Status status = CpuShare(*data, batch);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  absl::Status status = tandem::Run(argc > 1 ? argv[1] : tandem::kFashionMnistDir);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
