// Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 60,000 training and 10,000 test images of clothes in 10 classes.
// MNIST's own files have the same names and format and can be read too.
#ifndef TANDEM_DATA_FASHION_MNIST_H_
#define TANDEM_DATA_FASHION_MNIST_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/data/idx.h"

namespace TANDEM_API tandem {

// The folder into which Debian's package dataset-fashion-mnist installs the files.
inline constexpr char kFashionMnistDir[] = "/usr/share/datasets/fashion-mnist";
inline constexpr int kFashionMnistClasses = 10;

// Images with their classes.
struct LabelledImages {
  HostTensor images;  // uint8 [n,28,28], 0 is the background
  HostTensor labels;  // uint8 [n], each in 0..9
};

// Both halves of the data.
struct FashionMnist {
  LabelledImages train;
  LabelledImages test;
};

// Training or test data whose first images can be used while the others are still being read.
struct ImageStream {
  std::shared_ptr<IdxReader> images;  // uint8 [n,28,28]
  HostTensor labels;                  // uint8 [n], each in 0..9
};

// Which half to read.
enum class FashionMnistSplit { kTrain, kTest };

// Read `train-images-idx3-ubyte` etc. from `dir`, each with or without the suffix .gz. NotFound when a file is missing;
// DataLoss when it is damaged, images and labels differ in number, or a label is out of range.
absl::StatusOr<LabelledImages> LoadFashionMnistSplit(FashionMnistSplit split,
                                                     const std::string& dir = kFashionMnistDir);
// Opens the images without reading them all: IdxReader::WaitForRows returns the errors of damaged images.
absl::StatusOr<ImageStream> OpenFashionMnistSplit(FashionMnistSplit split, const std::string& dir = kFashionMnistDir);
// Reads both halves.
absl::StatusOr<FashionMnist> LoadFashionMnist(const std::string& dir = kFashionMnistDir);

// uint8 [n,28,28] -> float32 [n,28,28,1], divided by 255. InvalidArgument for another type or rank.
absl::StatusOr<HostTensor> ScaledImages(const HostTensor& images);
// uint8 [n] -> int32 [n].
absl::StatusOr<HostTensor> Int32Labels(const HostTensor& labels);
// uint8 [n] -> float32 [n,num_classes]. OutOfRange, with index and value, for a label that is not a class.
absl::StatusOr<HostTensor> OneHotLabels(const HostTensor& labels, int num_classes = kFashionMnistClasses);

}  // namespace tandem

#endif  // TANDEM_DATA_FASHION_MNIST_H_
