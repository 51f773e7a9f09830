#include "runtime/library_call.h"

#include "absl/strings/str_cat.h"
#include "base/dtype.h"

namespace tandem {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 40;

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(what); }

bool Positive(const std::vector<int64_t>& shape, size_t rank) {
  if (shape.size() != rank) return false;
  for (int64_t d : shape) {
    if (d <= 0) return false;
  }
  return CheckedElements(shape) > 0;
}

absl::Status CheckConvolution(const fb::LibraryCallT& c) {
  if (!Positive(c.x_shape, 4)) return Bad("x_shape must have 4 positive sizes (NHWC)");
  if (!Positive(c.kernel_shape, 4)) return Bad("kernel_shape must have 4 positive sizes (HWIO)");
  if (!Positive(c.y_shape, 4)) return Bad("y_shape must have 4 positive sizes (NHWC)");
  if (c.strides.size() != 2 || c.pad_low.size() != 2 || c.pad_high.size() != 2) {
    return Bad("strides, pad_low and pad_high must have 2 sizes");
  }
  if (c.x_shape[0] != c.y_shape[0] || c.x_shape[3] != c.kernel_shape[2] || c.y_shape[3] != c.kernel_shape[3]) {
    return Bad("batch or channels of x, kernel and y differ");
  }
  for (int i = 0; i < 2; ++i) {
    int64_t k = c.kernel_shape[i];
    if (c.strides[i] < 1 || c.strides[i] > kMaxElements) return Bad("strides must be positive");
    if (c.pad_low[i] < 0 || c.pad_low[i] >= k || c.pad_high[i] < 0 || c.pad_high[i] >= k) {
      return Bad("pads must be in [0, kernel size)");
    }
    int64_t room = c.x_shape[i + 1] + c.pad_low[i] + c.pad_high[i] - k;
    if (room < 0 || room / c.strides[i] + 1 != c.y_shape[i + 1]) {
      return Bad(absl::StrCat("y_shape[", i + 1, "] is not what x, kernel, strides and pads give"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMatMul(const fb::LibraryCallT& c) {
  if (!Positive(c.x_shape, 2) || !Positive(c.kernel_shape, 2) || !Positive(c.y_shape, 2)) {
    return Bad("x_shape, kernel_shape and y_shape must have 2 positive sizes");
  }
  int64_t m = c.x_shape[c.transpose_a ? 1 : 0], k = c.x_shape[c.transpose_a ? 0 : 1];
  int64_t kb = c.kernel_shape[c.transpose_b ? 1 : 0], n = c.kernel_shape[c.transpose_b ? 0 : 1];
  if (k != kb || c.y_shape[0] != m || c.y_shape[1] != n) {
    return Bad(absl::StrCat("cannot multiply ", ShapeString(c.x_shape), " by ", ShapeString(c.kernel_shape), " into ",
                            ShapeString(c.y_shape)));
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(const fb::LibraryCallT& c, fb::Primitive p) {
  const fb::DType x = LibraryType(c.x_dtype), kernel = LibraryType(c.kernel_dtype), y = LibraryType(c.y_dtype);
  for (fb::DType t : {x, kernel, y, LibraryType(c.plain_dtype)}) {
    if (t != fb::DType::Float32 && t != fb::DType::BFloat16) return Bad("types must be Float32 or BFloat16");
  }
  // The result may be float32 always: it is the accumulator.
  const bool reads_x = p != fb::Primitive::Conv2DInputGrad, reads_kernel = p != fb::Primitive::Conv2DFilterGrad;
  const fb::DType a = reads_x ? x : y, b = reads_kernel ? kernel : y;
  const fb::DType result = !reads_x ? x : !reads_kernel ? kernel : y;
  if (a != b) return Bad("both operands must have one type");
  if (result != fb::DType::Float32 && result != a) return Bad("the result must have the operands' type or Float32");
  return absl::OkStatus();
}

}  // namespace

fb::DType LibraryType(fb::DType type) { return type == fb::DType::Invalid ? fb::DType::Float32 : type; }

int64_t CheckedElements(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0 || (d > 0 && n > kMaxElements / d)) return -1;
    n *= d;
  }
  return n;
}

absl::StatusOr<LibraryOperands> CheckLibraryCall(const fb::LibraryCallT& c) {
  using fb::Primitive;
  if (c.primitive < Primitive::MIN || c.primitive > Primitive::MAX) return Bad("unknown primitive");
  if (c.epilogue < fb::Epilogue::MIN || c.epilogue > fb::Epilogue::MAX) return Bad("unknown epilogue");
  Primitive p = c.primitive;
  if (p == Primitive::PackWeights) {
    p = c.packed_for;
    if (p != Primitive::Conv2D && p != Primitive::Conv2DInputGrad && p != Primitive::MatMul) {
      return Bad("packed_for must be a primitive with a kernel operand");
    }
  }
  absl::Status shapes = p == Primitive::MatMul ? CheckMatMul(c) : CheckConvolution(c);
  if (!shapes.ok()) return shapes;
  if (absl::Status types = CheckTypes(c, p); !types.ok()) return types;
  const fb::DType x = LibraryType(c.x_dtype), y = LibraryType(c.y_dtype);
  const fb::DType k = c.packed ? fb::DType::Invalid : LibraryType(c.kernel_dtype);
  if (c.epilogue != fb::Epilogue::None && p != Primitive::Conv2D && p != Primitive::MatMul) {
    return Bad("only Conv2D and MatMul take an epilogue");
  }
  std::vector<int64_t> kernel = c.packed ? std::vector<int64_t>() : c.kernel_shape;
  bool bias = c.epilogue == fb::Epilogue::Bias || c.epilogue == fb::Epilogue::BiasRelu;
  LibraryOperands operands;
  switch (c.primitive) {
    case Primitive::Conv2D:
    case Primitive::MatMul:
      operands.inputs = {c.x_shape, kernel};
      operands.input_types = {x, k};
      if (bias) operands.inputs.push_back({c.y_shape.back()});
      if (bias) operands.input_types.push_back(fb::DType::Float32);
      operands.outputs = {c.y_shape};
      operands.output_types = {y};
      break;
    case Primitive::Conv2DInputGrad:
      operands.inputs = {c.y_shape, kernel};
      operands.outputs = {c.x_shape};
      operands.input_types = {y, k};
      operands.output_types = {x};
      break;
    case Primitive::Conv2DFilterGrad:
      if (c.packed) return Bad("Conv2DFilterGrad writes HWIO and cannot be packed");
      operands.inputs = {c.x_shape, c.y_shape};
      operands.outputs = {c.kernel_shape};
      operands.input_types = {x, y};
      operands.output_types = {k};
      break;
    case Primitive::PackWeights:
      operands.inputs = {c.kernel_shape};
      operands.outputs = {{}};
      operands.input_types = {LibraryType(c.plain_dtype)};
      operands.output_types = {fb::DType::Invalid};
      break;
  }
  return operands;
}

}  // namespace tandem
