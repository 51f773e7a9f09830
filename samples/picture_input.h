// Inputs of pictures in folders, one folder for each class.
#ifndef TANDEM_SAMPLES_PICTURE_INPUT_H_
#define TANDEM_SAMPLES_PICTURE_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/model/estimator_spec.h"

namespace tandem {

struct PictureFiles {
  std::vector<std::string> files;
  std::vector<int32_t> labels;  // of each file: the number of its class
};

struct PictureFolders {
  std::vector<std::string> classes;  // names of folders, sorted
  PictureFiles train, test;
};

// The JPEG and PNG files dir/train/CLASS/* and dir/test/CLASS/*; or, where there is no dir/train, dir/CLASS/*, of which
// every tenth of a class is a test picture. NotFound where there is none; InvalidArgument for less than two classes,
// and for a test folder of a class that is not trained.
absl::StatusOr<PictureFolders> FindPictures(const std::string& dir);

// How pixels become numbers.
enum class PicturePixels {
  kCentred,  // RGB from -1 to 1
  // BGR less the means of ImageNet, 0 to 255: what weights of VGG16 that were trained with Caffe are made for
  // (tf.keras.applications.vgg16.preprocess_input).
  kCaffe,
};

struct PictureInputOptions {
  int64_t size = 224;  // height and width
  PicturePixels pixels = PicturePixels::kCentred;
  int64_t batch_size = 32;  // per replica
  // The files in another order in every epoch, for ever; otherwise once, in order.
  bool training = false;
  uint64_t seed = 0;
};

// Batches of "image" float32 [b, size, size, 3] and "label" int32 [b]: files are read, decoded and resized by several
// threads. A picture that is broken is an error with the name of its file.
InputFn PictureInputFn(PictureFiles pictures, const PictureInputOptions& options);

}  // namespace tandem

#endif  // TANDEM_SAMPLES_PICTURE_INPUT_H_
