// Encodes ONNX models as files have them: a ModelProto of onnx.proto.
//
// This code replaces protobuf's: generated code would register onnx.proto a second time in a process that has libonnx,
// which aborts the process. The numbers of fields are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
#ifndef TANDEM_ESTIMATOR_ONNX_ENCODE_MODEL_H_
#define TANDEM_ESTIMATOR_ONNX_ENCODE_MODEL_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "passes/onnx/model.h"

namespace tandem::onnx {

// Bytes of the largest file that protobuf's readers accept.
inline constexpr int64_t kMaxModelBytes = (int64_t{1} << 31) - 1;
// Weights in a file of their own begin at multiples of so many bytes, the size of a page, as ONNX advises.
inline constexpr int64_t kDataAlignment = 4096;

// A file as pieces to be written one after another. The pieces point into the image, the model and static memory.
struct FileImage {
  std::deque<std::string> texts;
  std::vector<absl::string_view> pieces;

  int64_t size() const;
};

struct ModelImage {
  FileImage model;
  FileImage data;  // the file of weights; without pieces if all weights are in the model
};

enum class WeightsPlace { kModel, kData };

// `place` says where weights are; a model that would be larger than kMaxModelBytes has them in a file of their own in
// any case. `data_name` is the name of that file, beside the model's. Weights of less than 1 KiB, among which are
// shapes and axes, are in the model.
ModelImage EncodeModel(const Model& model, WeightsPlace place, const std::string& data_name);

}  // namespace tandem::onnx

#endif  // TANDEM_ESTIMATOR_ONNX_ENCODE_MODEL_H_
