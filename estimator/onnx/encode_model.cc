#include "estimator/onnx/encode_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "data/files/wire.h"
#include "data/files/wire_fields.h"

namespace tandem::onnx {
namespace {

constexpr int64_t kInlineBytes = 1024;
constexpr char kZeros[kDataAlignment] = {};

absl::string_view BytesOf(const HostTensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.byte_size())};
}

// Encodes a StringStringEntryProto.
std::string EncodeEntry(absl::string_view key, absl::string_view value) {
  std::string entry;
  wire::AppendBytes(1, key, &entry);
  wire::AppendBytes(2, value, &entry);
  return entry;
}

std::string EncodeAttribute(const Attribute& attribute) {
  enum Type { kFloat = 1, kInt = 2, kInts = 7 };
  std::string bytes;
  wire::AppendBytes(1, attribute.name, &bytes);
  Type type = kInts;
  if (const auto* number = std::get_if<float>(&attribute.value)) {
    wire::AppendFloat(2, *number, &bytes);
    type = kFloat;
  } else if (const auto* integer = std::get_if<int64_t>(&attribute.value)) {
    wire::AppendNumber(3, static_cast<uint64_t>(*integer), &bytes);
    type = kInt;
  } else {
    for (int64_t i : std::get<std::vector<int64_t>>(attribute.value)) {
      wire::AppendNumber(8, static_cast<uint64_t>(i), &bytes);
    }
  }
  wire::AppendNumber(20, type, &bytes);
  return bytes;
}

std::string EncodeNode(const Node& node) {
  std::string bytes;
  for (const std::string& input : node.inputs) wire::AppendBytes(1, input, &bytes);
  for (const std::string& output : node.outputs) wire::AppendBytes(2, output, &bytes);
  wire::AppendBytes(3, node.name, &bytes);
  wire::AppendBytes(4, node.op_type, &bytes);
  for (const Attribute& attribute : node.attributes) wire::AppendBytes(5, EncodeAttribute(attribute), &bytes);
  return bytes;
}

std::string EncodeValueInfo(const ValueInfo& info) {
  std::string shape;
  for (int64_t size : info.shape) {
    std::string dimension;
    if (size == kBatch) {
      wire::AppendBytes(2, "batch", &dimension);
    } else {
      wire::AppendNumber(1, static_cast<uint64_t>(size), &dimension);
    }
    wire::AppendBytes(1, dimension, &shape);
  }
  std::string tensor_type, type, bytes;
  wire::AppendNumber(1, DataTypeOf(info.dtype), &tensor_type);
  wire::AppendBytes(2, shape, &tensor_type);
  wire::AppendBytes(1, tensor_type, &type);
  wire::AppendBytes(1, info.name, &bytes);
  wire::AppendBytes(2, type, &bytes);
  return bytes;
}

// Appends the tag and the size of a field of bytes whose content follows.
void AppendHeader(uint32_t field, uint64_t size, std::string* out) {
  wire::AppendVarint(field << 3 | static_cast<uint32_t>(wire::Type::kBytes), out);
  wire::AppendVarint(size, out);
}

// Adds the weight to the file of weights; returns the fields of its TensorProto that say where it is.
std::string AddToData(const HostTensor& value, const std::string& data_name, FileImage* data) {
  const int64_t size = data->size(), offset = AlignUp(size, kDataAlignment);
  if (offset > size) data->pieces.push_back({kZeros, static_cast<size_t>(offset - size)});
  data->pieces.push_back(BytesOf(value));
  std::string fields;
  wire::AppendBytes(13, EncodeEntry("location", data_name), &fields);
  wire::AppendBytes(13, EncodeEntry("offset", absl::StrCat(offset)), &fields);
  wire::AppendBytes(13, EncodeEntry("length", absl::StrCat(value.byte_size())), &fields);
  constexpr uint64_t kExternal = 1;
  wire::AppendNumber(14, kExternal, &fields);
  return fields;
}

// Encodes a weight as a field of the graph. If the weight's elements are in the model's file, the caller must append
// them to the result; otherwise adds them to `data`.
std::string EncodeInitializer(const Initializer& initializer, const std::string& data_name, FileImage* data) {
  const HostTensor& value = initializer.value;
  std::string tensor, field;
  for (int64_t size : value.shape()) wire::AppendNumber(1, static_cast<uint64_t>(size), &tensor);
  wire::AppendNumber(2, DataTypeOf(value.dtype()), &tensor);
  wire::AppendBytes(8, initializer.name, &tensor);
  uint64_t follows = 0;
  if (data_name.empty() || value.byte_size() < kInlineBytes) {
    follows = static_cast<uint64_t>(value.byte_size());
    AppendHeader(9, follows, &tensor);
  } else {
    tensor += AddToData(value, data_name, data);
  }
  AppendHeader(5, tensor.size() + follows, &field);
  return field + tensor;
}

// Encodes the model. Large weights go to a file called `data_name` or, if that is empty, are in the model's file.
ModelImage Encode(const Model& model, const std::string& data_name) {
  ModelImage image;
  FileImage graph;
  const auto add_text = [&](std::string text) {
    graph.texts.push_back(std::move(text));
    graph.pieces.push_back(graph.texts.back());
  };
  std::string fields;
  for (const Node& node : model.nodes) wire::AppendBytes(1, EncodeNode(node), &fields);
  wire::AppendBytes(2, model.name, &fields);
  for (const ValueInfo& info : model.inputs) wire::AppendBytes(11, EncodeValueInfo(info), &fields);
  for (const ValueInfo& info : model.outputs) wire::AppendBytes(12, EncodeValueInfo(info), &fields);
  add_text(std::move(fields));
  for (const Initializer& initializer : model.initializers) {
    const bool inside = data_name.empty() || initializer.value.byte_size() < kInlineBytes;
    add_text(EncodeInitializer(initializer, data_name, &image.data));
    if (inside) graph.pieces.push_back(BytesOf(initializer.value));
  }
  std::string opset, header;
  wire::AppendBytes(1, "", &opset);
  wire::AppendNumber(2, kOpset, &opset);
  wire::AppendNumber(1, kIrVersion, &header);
  wire::AppendBytes(2, "tandem", &header);
  wire::AppendBytes(8, opset, &header);
  AppendHeader(7, static_cast<uint64_t>(graph.size()), &header);
  image.model = std::move(graph);
  image.model.texts.push_back(std::move(header));
  image.model.pieces.insert(image.model.pieces.begin(), image.model.texts.back());
  return image;
}

}  // namespace

int64_t FileImage::size() const {
  int64_t bytes = 0;
  for (absl::string_view piece : pieces) bytes += static_cast<int64_t>(piece.size());
  return bytes;
}

ModelImage EncodeModel(const Model& model, WeightsPlace place, const std::string& data_name) {
  if (place == WeightsPlace::kData) return Encode(model, data_name);
  ModelImage image = Encode(model, "");
  return image.model.size() > kMaxModelBytes ? Encode(model, data_name) : std::move(image);
}

}  // namespace tandem::onnx
