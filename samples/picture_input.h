// Inputs of pictures in folders, one folder for each class.
#ifndef TANDEM_SAMPLES_PICTURE_INPUT_H_
#define TANDEM_SAMPLES_PICTURE_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tandem/estimator/model/estimator_spec.h"

namespace tandem {

struct PictureFiles {
  std::vector<std::string> files;
  std::vector<int32_t> labels;  // for each file the number of its class
};

struct PictureFolders {
  std::vector<std::string> classes;  // the classes' folder names, sorted
  PictureFiles train, test;
};

// Finds the JPEG and PNG files dir/train/CLASS/* and dir/test/CLASS/*. If there is no dir/train, finds dir/CLASS/*, and
// every tenth picture of a class becomes a test picture. NotFound if there are no pictures; InvalidArgument for less
// than two classes, and for a test folder of a class that has no training pictures.
absl::StatusOr<PictureFolders> FindPictures(const std::string& dir);

// How the bytes of a picture become the numbers that a network expects.
enum class PicturePixels {
  kCentred,  // RGB from -1 to 1
  // BGR in the range 0 to 255, from which ImageNet's mean of each channel is subtracted. Weights of VGG16 that were
  // trained with Caffe expect this (tf.keras.applications.vgg16.preprocess_input).
  kCaffe,
};

struct PictureInputOptions {
  int64_t size = 224;  // height and width of the resized pictures
  PicturePixels pixels = PicturePixels::kCentred;
  int64_t batch_size = 32;  // pictures per replica
  // If true, the files are repeated for ever, in another order in every epoch. Otherwise they are read once, in order.
  bool training = false;
  uint64_t seed = 0;
};

// Returns an input_fn of batches: "image" float32 [b, size, size, 3] and "label" int32 [b]. Files are read, decoded and
// resized by several threads. A broken picture is an error that names its file.
InputFn PictureInputFn(PictureFiles pictures, const PictureInputOptions& options);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_PICTURE_INPUT_H_
