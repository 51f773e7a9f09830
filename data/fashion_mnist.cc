#include "data/fashion_mnist.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Returns the path of the compressed file, or of the plain one if only that exists. So the error for a missing file
// names the compressed one.
std::string FilePath(const std::string& dir, absl::string_view name) {
  std::string plain = absl::StrCat(dir, "/", name), compressed = absl::StrCat(plain, ".gz");
  return access(compressed.c_str(), F_OK) != 0 && access(plain.c_str(), F_OK) == 0 ? plain : compressed;
}

absl::StatusOr<std::shared_ptr<IdxReader>> OpenBytes(const std::string& path, int rank) {
  absl::StatusOr<std::shared_ptr<IdxReader>> reader = IdxReader::Open(path);
  if (absl::IsNotFound(reader.status())) {
    return absl::NotFoundError(absl::StrCat(
        reader.status().message(), "; install Debian's dataset-fashion-mnist or give the directory of the IDX files"));
  }
  TD_RETURN_IF_ERROR(reader.status());
  const HostTensor& tensor = (*reader)->tensor();
  if (tensor.dtype() != DType::kUInt8 || tensor.rank() != rank) {
    return absl::DataLossError(absl::StrCat(path, ": ", Name(tensor.dtype()), " of shape ", ShapeString(tensor.shape()),
                                            " where uint8 of rank ", rank, " is expected"));
  }
  return reader;
}

absl::Status CheckType(const HostTensor& t, int rank, absl::string_view what) {
  if (t.dtype() == DType::kUInt8 && t.rank() == rank) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " must be uint8 of rank ", rank, ", got ", Name(t.dtype()), " ", ShapeString(t.shape())));
}

// Returns OutOfRange for the first label that is not below `num_classes`.
absl::Status CheckLabels(const HostTensor& labels, int num_classes) {
  absl::Span<const uint8_t> values = labels.values<uint8_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= num_classes) {
      return absl::OutOfRangeError(
          absl::StrCat("label ", i, " is ", static_cast<int>(values[i]), ", not in 0..", num_classes - 1));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImageStream> OpenFashionMnistSplit(FashionMnistSplit split, const std::string& dir) {
  const char* prefix = split == FashionMnistSplit::kTrain ? "train" : "t10k";
  std::string image_path = FilePath(dir, absl::StrCat(prefix, "-images-idx3-ubyte"));
  std::string label_path = FilePath(dir, absl::StrCat(prefix, "-labels-idx1-ubyte"));
  ImageStream data;
  TD_ASSIGN_OR_RETURN(data.images, OpenBytes(image_path, 3));
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<IdxReader> labels, OpenBytes(label_path, 1));
  TD_RETURN_IF_ERROR(labels->WaitForRows(labels->rows()));
  data.labels = labels->tensor();
  const Shape& shape = data.images->tensor().shape();
  if (shape[1] != 28 || shape[2] != 28) {
    return absl::DataLossError(
        absl::StrCat(image_path, ": images have shape ", ShapeString(shape), " where [n,28,28] is expected"));
  }
  if (shape[0] != data.labels.shape()[0]) {
    return absl::DataLossError(absl::StrCat(image_path, " has ", shape[0], " images, but ", label_path, " has ",
                                            data.labels.shape()[0], " labels"));
  }
  if (absl::Status status = CheckLabels(data.labels, kFashionMnistClasses); !status.ok()) {
    return absl::DataLossError(absl::StrCat(label_path, ": ", status.message()));
  }
  return data;
}

absl::StatusOr<LabelledImages> LoadFashionMnistSplit(FashionMnistSplit split, const std::string& dir) {
  TD_ASSIGN_OR_RETURN(const ImageStream stream, OpenFashionMnistSplit(split, dir));
  TD_RETURN_IF_ERROR(stream.images->WaitForRows(stream.images->rows()));
  return LabelledImages{stream.images->tensor(), stream.labels};
}

absl::StatusOr<FashionMnist> LoadFashionMnist(const std::string& dir) {
  FashionMnist data;
  TD_ASSIGN_OR_RETURN(data.train, LoadFashionMnistSplit(FashionMnistSplit::kTrain, dir));
  TD_ASSIGN_OR_RETURN(data.test, LoadFashionMnistSplit(FashionMnistSplit::kTest, dir));
  return data;
}

absl::StatusOr<HostTensor> ScaledImages(const HostTensor& images) {
  TD_RETURN_IF_ERROR(CheckType(images, 3, "images"));
  std::array<float, 256> scaled;
  for (int i = 0; i < 256; ++i) scaled[i] = static_cast<float>(i) / 255.0f;
  Shape shape = images.shape();
  shape.push_back(1);
  HostTensor out(DType::kFloat32, std::move(shape));
  const uint8_t* from = images.data<uint8_t>();
  float* to = out.data<float>();
  for (int64_t i = 0; i < out.num_elements(); ++i) to[i] = scaled[from[i]];
  return out;
}

absl::StatusOr<HostTensor> Int32Labels(const HostTensor& labels) {
  TD_RETURN_IF_ERROR(CheckType(labels, 1, "labels"));
  HostTensor out(DType::kInt32, labels.shape());
  for (int64_t i = 0; i < out.num_elements(); ++i) out.data<int32_t>()[i] = labels.data<uint8_t>()[i];
  return out;
}

absl::StatusOr<HostTensor> OneHotLabels(const HostTensor& labels, int num_classes) {
  TD_RETURN_IF_ERROR(CheckType(labels, 1, "labels"));
  if (num_classes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("the number of classes must be at least 1, got ", num_classes));
  }
  TD_RETURN_IF_ERROR(CheckLabels(labels, num_classes));
  HostTensor out = HostTensor::Zeros(DType::kFloat32, {labels.shape()[0], num_classes});
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    out.data<float>()[i * num_classes + labels.data<uint8_t>()[i]] = 1.0f;
  }
  return out;
}

}  // namespace tandem
