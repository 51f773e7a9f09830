// Prints how fast Fashion-MNIST's training images flow through S0's pipeline, without and with Prefetch, and how long
// loading, saving and restoring take.
#include <chrono>
#include <cstdio>

#include "data/dataset.h"
#include "data/fashion_mnist.h"

namespace tandem {
namespace {

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  absl::Status status = tandem::Run(argc > 1 ? argv[1] : tandem::kFashionMnistDir);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
