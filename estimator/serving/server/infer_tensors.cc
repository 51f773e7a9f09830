#include "estimator/serving/server/infer_tensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/annotate.h"
#include "base/count_text.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem::serving {
namespace {

using InputTensor = inference::ModelInferRequest::InferInputTensor;

std::vector<std::string> NamesOf(const std::vector<TensorSignature>& tensors) {
  std::vector<std::string> names;
  for (const TensorSignature& tensor : tensors) names.push_back(tensor.name);
  return names;
}

absl::StatusOr<const TensorSignature*> Find(const std::string& name, absl::string_view kind,
                                            const std::vector<TensorSignature>& tensors) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TensorSignature& t) { return t.name == name; });
  if (found != tensors.end()) return &*found;
  return absl::InvalidArgumentError(
      absl::StrCat("the model has no ", kind, " \"", PrintableLine(name), "\"", DidYouMean(name, NamesOf(tensors))));
}

// Checks type and sizes of an input, and its number of rows.
absl::Status CheckInput(const InputTensor& input, const TensorSignature& wanted) {
  const bool fits = input.datatype() == InferName(wanted.dtype) &&
                    input.shape_size() == static_cast<int>(wanted.shape.size()) &&
                    std::equal(input.shape().begin() + 1, input.shape().end(), wanted.shape.begin() + 1);
  if (fits && input.shape(0) >= 0) return absl::OkStatus();
  const Shape shape(input.shape().begin(), input.shape().end());
  return absl::InvalidArgumentError(absl::StrCat("it is ", PrintableLine(input.datatype()), ShapeString(shape),
                                                 ", the model takes ", InferName(wanted.dtype),
                                                 ShapeString(wanted.shape), ", b being any number of rows"));
}

absl::Status WrongSize(int64_t found, int64_t rows, int64_t row, absl::string_view unit) {
  return absl::InvalidArgumentError(absl::StrCat("it has ", CountText(found, unit), ", and its shape is that of ",
                                                 CountText(rows, "row"), " of ", CountText(row, unit)));
}

// Copies values of a repeated field into a tensor of as many.
template <typename T, typename Values>
absl::StatusOr<HostTensor> FromContents(const Values& values, const TensorSignature& wanted, int64_t rows) {
  const Shape row(wanted.shape.begin() + 1, wanted.shape.end());
  const int64_t row_size = NumElements(row);
  // Divided, as the product may be larger than any number.
  if (row_size == 0 || values.size() % row_size != 0 || values.size() / row_size != rows) {
    return WrongSize(values.size(), rows, row_size, "value");
  }
  Shape shape = wanted.shape;
  shape[0] = rows;
  HostTensor tensor(wanted.dtype, std::move(shape));
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.raw()));
  return tensor;
}

absl::StatusOr<HostTensor> FromContents(const InputTensor& input, const TensorSignature& wanted) {
  const inference::InferTensorContents& contents = input.contents();
  const int64_t rows = input.shape(0);
  switch (wanted.dtype) {
    case DType::kFloat32:
      return FromContents<float>(contents.fp32_contents(), wanted, rows);
    case DType::kFloat64:
      return FromContents<double>(contents.fp64_contents(), wanted, rows);
    case DType::kInt32:
      return FromContents<int32_t>(contents.int_contents(), wanted, rows);
    case DType::kInt64:
      return FromContents<int64_t>(contents.int64_contents(), wanted, rows);
    case DType::kUInt8: {
      for (const uint32_t value : contents.uint_contents()) {
        if (value > UINT8_MAX) return absl::InvalidArgumentError(absl::StrCat(value, " does not fit into UINT8"));
      }
      return FromContents<uint8_t>(contents.uint_contents(), wanted, rows);
    }
    case DType::kBool:
      return FromContents<bool>(contents.bool_contents(), wanted, rows);
    default:
      return absl::UnimplementedError(absl::StrCat(Name(wanted.dtype), " has no form in this protocol"));
  }
}

absl::StatusOr<HostTensor> FromRaw(const std::string& bytes, const TensorSignature& wanted, int64_t rows) {
  const Shape row(wanted.shape.begin() + 1, wanted.shape.end());
  const int64_t row_bytes = NumElements(row) * SizeOf(wanted.dtype);
  const auto size = static_cast<int64_t>(bytes.size());
  if (row_bytes == 0 || size % row_bytes != 0 || size / row_bytes != rows) {
    return WrongSize(size, rows, row_bytes, "byte");
  }
  if (wanted.dtype == DType::kBool &&
      std::any_of(bytes.begin(), bytes.end(), [](char c) { return c != 0 && c != 1; })) {
    return absl::InvalidArgumentError("it has a BOOL that is neither 0 nor 1");
  }
  Shape shape = wanted.shape;
  shape[0] = rows;
  HostTensor tensor(wanted.dtype, std::move(shape));
  if (size > 0) std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  return tensor;
}

template <typename T, typename Values>
void AddValues(const HostTensor& tensor, int64_t begin, int64_t count, Values* values) {
  const T* first = static_cast<const T*>(tensor.raw()) + begin;
  values->Reserve(static_cast<int>(count));
  for (int64_t i = 0; i < count; ++i) values->AddAlreadyReserved(first[i]);
}

// Adds `count` values from `begin` on to the field of their type.
void AddContents(const HostTensor& tensor, int64_t begin, int64_t count, inference::InferTensorContents* contents) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return AddValues<float>(tensor, begin, count, contents->mutable_fp32_contents());
    case DType::kFloat64:
      return AddValues<double>(tensor, begin, count, contents->mutable_fp64_contents());
    case DType::kInt32:
      return AddValues<int32_t>(tensor, begin, count, contents->mutable_int_contents());
    case DType::kInt64:
      return AddValues<int64_t>(tensor, begin, count, contents->mutable_int64_contents());
    case DType::kUInt8:
      return AddValues<uint8_t>(tensor, begin, count, contents->mutable_uint_contents());
    case DType::kBool:
      return AddValues<bool>(tensor, begin, count, contents->mutable_bool_contents());
    default:
      break;  // no program has an output of another type
  }
}

}  // namespace

std::string InferName(DType dtype) {
  if (dtype == DType::kFloat32) return "FP32";
  if (dtype == DType::kFloat64) return "FP64";
  return absl::AsciiStrToUpper(Name(dtype));
}

absl::StatusOr<InferInputs> ReadInputs(const inference::ModelInferRequest& request,
                                       const std::vector<TensorSignature>& inputs) {
  const bool raw = request.raw_input_contents_size() > 0;
  if (raw && request.raw_input_contents_size() != request.inputs_size()) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", request.inputs_size(), " inputs and ",
                                                   request.raw_input_contents_size(),
                                                   " raw_input_contents; give one for each input"));
  }
  InferInputs read{.rows = -1};
  for (int i = 0; i < request.inputs_size(); ++i) {
    const InputTensor& input = request.inputs(i);
    TD_ASSIGN_OR_RETURN(const TensorSignature* wanted, Find(input.name(), "input", inputs));
    const std::string where = absl::StrCat("input \"", PrintableLine(input.name()), "\": ");
    TD_RETURN_IF_ERROR(Annotate(CheckInput(input, *wanted), where));
    if (read.rows >= 0 && input.shape(0) != read.rows) {
      return absl::InvalidArgumentError(absl::StrCat(where, "it has ", input.shape(0), " rows, and \"",
                                                     PrintableLine(request.inputs(0).name()), "\" has ", read.rows,
                                                     "; every input has a row for each example"));
    }
    read.rows = input.shape(0);
    absl::StatusOr<HostTensor> tensor =
        raw ? FromRaw(request.raw_input_contents(i), *wanted, read.rows) : FromContents(input, *wanted);
    TD_RETURN_IF_ERROR(Annotate(tensor.status(), where));
    if (!read.inputs.emplace(input.name(), *std::move(tensor)).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, "it is there twice"));
    }
  }
  for (const TensorSignature& wanted : inputs) {
    if (read.inputs.count(wanted.name) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat("input \"", PrintableLine(wanted.name),
                                                   "\" is missing; the model takes it as ", InferName(wanted.dtype),
                                                   ShapeString(wanted.shape), ", b being any number of rows"));
  }
  return read;
}

absl::Status CheckOutputs(const inference::ModelInferRequest& request, const std::vector<TensorSignature>& outputs) {
  for (const auto& output : request.outputs()) TD_RETURN_IF_ERROR(Find(output.name(), "output", outputs).status());
  return absl::OkStatus();
}

void WriteOutputs(const inference::ModelInferRequest& request, const Prediction& prediction,
                  inference::ModelInferResponse* response) {
  const auto requested = [&](const std::string& name) {
    return request.outputs_size() == 0 || std::any_of(request.outputs().begin(), request.outputs().end(),
                                                      [&](const auto& output) { return output.name() == name; });
  };
  for (const auto& [name, tensor] : *prediction.outputs) {
    if (!requested(name)) continue;
    auto* output = response->add_outputs();
    output->set_name(name);
    output->set_datatype(InferName(tensor.dtype()));
    output->add_shape(prediction.rows);
    for (int i = 1; i < tensor.rank(); ++i) output->add_shape(tensor.shape()[static_cast<size_t>(i)]);
    const int64_t row = NumElements(absl::MakeConstSpan(tensor.shape()).subspan(1));
    const int64_t begin = prediction.begin * row, count = prediction.rows * row;
    if (request.raw_input_contents_size() > 0) {
      const int64_t size = SizeOf(tensor.dtype());
      response->add_raw_output_contents(static_cast<const char*>(tensor.raw()) + begin * size,
                                        static_cast<size_t>(count * size));
    } else {
      AddContents(tensor, begin, count, output->mutable_contents());
    }
  }
}

}  // namespace tandem::serving
