// Inputs of the image samples: Fashion-MNIST (or MNIST) as batches of scaled images and labels.
#ifndef TANDEM_SAMPLES_FASHION_INPUT_H_
#define TANDEM_SAMPLES_FASHION_INPUT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/data/dataset.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/estimator/model/estimator_spec.h"

namespace tandem {

// One of the two sets (training or test), opened when its examples are first requested. Training begins while later
// images are still being read, and damage among them is an error of the first batch after it was found. Pixels stay
// bytes, which take a quarter of the memory of floats, until a batch is made of them.
class FashionInput {
 public:
  FashionInput(std::string data_dir, FashionMnistSplit split, bool one_hot)
      : data_dir_(std::move(data_dir)), split_(split), one_hot_(one_hot) {}

  absl::StatusOr<int64_t> examples();
  // Returns the examples in file order, unbatched: the first `count` of them, or all if it is negative. Components:
  // "image" uint8 [28,28], "label" int32 or one-hot float32 [10].
  absl::StatusOr<Dataset> Examples(int64_t count = -1);

 private:
  absl::Status Load();

  std::string data_dir_;
  FashionMnistSplit split_;
  bool one_hot_;
  std::shared_ptr<IdxReader> images_;
  HostTensor labels_;
};

// Converts batches of FashionInput's examples: "image" becomes float32 [b,28,28,1] in [0, 1].
Dataset WithScaledImages(const Dataset& batches);

// The pipeline of a training is shuffle (if the buffer is > 0) -> repeat -> batch -> scale -> prefetch. The number of
// epochs is -1 for an endless input.
struct TrainInputOptions {
  int64_t batch_size = 64;  // examples per replica
  int64_t epochs = 1;
  int64_t shuffle_buffer = 0;
  uint64_t seed = 0;
};
InputFn TrainInputFn(std::shared_ptr<FashionInput> input, const TrainInputOptions& options);

// Returns an input_fn for evaluations: the first `count` examples (-1: all) once, in file order, as batches of scaled
// images.
InputFn EvalInputFn(std::shared_ptr<FashionInput> input, int64_t batch_size, int64_t count = -1);

// Says which examples to evaluate on, parsed from "test" or "train:N".
struct EvalExamples {
  FashionMnistSplit split = FashionMnistSplit::kTest;
  int64_t count = -1;
};
absl::StatusOr<EvalExamples> ParseEvalExamples(const std::string& text);

// Returns the number of steps that `epochs` passes over `examples` examples take.
int64_t StepsForEpochs(int64_t examples, int64_t epochs, int64_t batch_size, int64_t replicas);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_FASHION_INPUT_H_
