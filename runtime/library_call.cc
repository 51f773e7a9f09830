#include "runtime/library_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"

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
  if (c.x_shape[0] != c.y_shape[0] || c.x_shape[3] % c.kernel_shape[2] != 0 || c.y_shape[3] != c.kernel_shape[3]) {
    return Bad("batch or channels of x, kernel and y differ");
  }
  if (c.kernel_shape[3] % Groups(c) != 0) return Bad("the output's channels are no multiple of the number of groups");
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

bool Positive(const std::vector<int64_t>& shape) { return shape.size() >= 2 && Positive(shape, shape.size()); }

absl::Status CannotMultiply(const fb::LibraryCallT& c) {
  return Bad(absl::StrCat("cannot multiply ", ShapeString(c.x_shape), " by ", ShapeString(c.kernel_shape), " into ",
                          ShapeString(c.y_shape)));
}

// All dimensions but the last are rows: of x and y, or of x and the kernel, which are then summed up.
absl::Status CheckRowsMatMul(const fb::LibraryCallT& c) {
  std::vector<int64_t> rows(c.x_shape.begin(), c.x_shape.end() - 1), y = rows;
  if (c.transpose_a) {
    std::vector<int64_t> other(c.kernel_shape.begin(), c.kernel_shape.end() - 1);
    if (c.transpose_b || rows != other) return CannotMultiply(c);
    y = {c.x_shape.back(), c.kernel_shape.back()};
  } else {
    if (c.kernel_shape.size() != 2 || c.kernel_shape[c.transpose_b ? 1 : 0] != c.x_shape.back()) {
      return CannotMultiply(c);
    }
    y.push_back(c.kernel_shape[c.transpose_b ? 0 : 1]);
  }
  return c.y_shape == y ? absl::OkStatus() : CannotMultiply(c);
}

absl::Status CheckMatMul(const fb::LibraryCallT& c) {
  if (!Positive(c.x_shape) || !Positive(c.kernel_shape) || !Positive(c.y_shape)) {
    return Bad("x_shape, kernel_shape and y_shape must have 2 or more positive sizes");
  }
  if (c.x_shape.size() > 2 || c.kernel_shape.size() > 2) return CheckRowsMatMul(c);
  if (c.y_shape.size() != 2) return CannotMultiply(c);
  int64_t m = c.x_shape[c.transpose_a ? 1 : 0], k = c.x_shape[c.transpose_a ? 0 : 1];
  int64_t kb = c.kernel_shape[c.transpose_b ? 1 : 0], n = c.kernel_shape[c.transpose_b ? 0 : 1];
  if (k != kb || c.y_shape[0] != m || c.y_shape[1] != n) {
    return CannotMultiply(c);
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

// Equal leading dimensions, at least one, and matrices that fit.
absl::Status CheckBatchMatMul(const fb::LibraryCallT& c) {
  size_t rank = c.x_shape.size();
  if (!Positive(c.x_shape) || !Positive(c.kernel_shape) || !Positive(c.y_shape) || rank < 3 ||
      c.kernel_shape.size() != rank || c.y_shape.size() != rank) {
    return Bad("x_shape, kernel_shape and y_shape must have equally many positive sizes, at least 3");
  }
  if (rank < 4 && (c.swap_x || c.swap_kernel || c.swap_y)) return Bad("swapped operands need 4 sizes");
  auto stored = [&](std::vector<int64_t> shape, bool swap, bool transpose) {
    if (swap) std::swap(shape[rank - 3], shape[rank - 2]);
    if (transpose) std::swap(shape[rank - 2], shape[rank - 1]);
    return shape;
  };
  std::vector<int64_t> x = stored(c.x_shape, c.swap_x, c.transpose_a);
  std::vector<int64_t> kernel = stored(c.kernel_shape, c.swap_kernel, c.transpose_b);
  std::vector<int64_t> y = stored(c.y_shape, c.swap_y, false);
  if (x[rank - 1] != kernel[rank - 2]) return CannotMultiply(c);
  x[rank - 1] = kernel[rank - 1];
  kernel[rank - 2] = x[rank - 2];
  if (x != y || kernel != y) return CannotMultiply(c);
  return absl::OkStatus();
}

bool GoTogether(const Epilogue& e) {
  const bool activates = e.activation != fb::Activation::None;
  if (e.gradient) {
    const bool sums_others = e.sums == fb::Summed::X || e.sums == fb::Summed::Kernel;
    return activates && !e.bias && !e.saves && !sums_others;
  }
  if (e.sums != fb::Summed::None) return e.sums != fb::Summed::Y && !e.bias && !activates && !e.saves;
  return activates || !e.saves;
}

// Beyond a bias, a residual and a relu only MatMul goes, in one type, and sums only in float32.
absl::Status CheckEpilogue(const fb::LibraryCallT& c, fb::Primitive primitive) {
  const Epilogue& e = c.epilogue;
  if (e.activation < fb::Activation::MIN || e.activation > fb::Activation::MAX) return Bad("unknown activation");
  if (e.sums < fb::Summed::MIN || e.sums > fb::Summed::MAX) return Bad("unknown sums of an epilogue");
  if (e.empty()) return absl::OkStatus();
  if (primitive != fb::Primitive::Conv2D && primitive != fb::Primitive::MatMul) {
    return Bad("only Conv2D and MatMul take an epilogue");
  }
  if (e.residual && (!e.is_forward() || c.reduces_batch || c.primitive == fb::Primitive::PackWeights)) {
    return Bad("only Conv2D and MatMul of a batch add a residual, with no more than a bias and a relu");
  }
  if (e.is_forward()) return absl::OkStatus();
  if (!GoTogether(e)) return Bad(absl::StrCat("the parts of the epilogue ", e.Text(), " do not go together"));
  if (c.primitive != fb::Primitive::MatMul || c.packed) return Bad("only MatMul of plain matrices takes this epilogue");
  const fb::DType x = LibraryType(c.x_dtype), y = LibraryType(c.y_dtype);
  if (x != y) return Bad("with this epilogue the result must have the operands' type");
  if (e.sums != fb::Summed::None && x != fb::DType::Float32) return Bad("only float32 is summed up by an epilogue");
  if ((e.sums == fb::Summed::X || e.sums == fb::Summed::Kernel) && (!c.transpose_a || c.transpose_b)) {
    return Bad("operands are summed up only where x is transposed and the kernel is not");
  }
  if (e.gelu() && (e.saves || e.gradient) && c.y_shape.back() % 8 != 0) {
    return Bad("the input of GELU needs rows of a multiple of 8 elements");
  }
  return absl::OkStatus();
}

void AddEpilogueOperands(const fb::LibraryCallT& c, LibraryOperands& operands) {
  const Epilogue& e = c.epilogue;
  const std::vector<int64_t> saved = e.relu() ? ReluMaskShape(c.y_shape) : c.y_shape;
  const fb::DType saved_type = e.relu() ? fb::DType::UInt8 : LibraryType(c.y_dtype);
  auto input = [&](const std::vector<int64_t>& shape, fb::DType type) {
    operands.inputs.push_back(shape);
    operands.input_types.push_back(type);
  };
  auto output = [&](const std::vector<int64_t>& shape, fb::DType type) {
    operands.outputs.push_back(shape);
    operands.output_types.push_back(type);
  };
  if (e.bias) input({c.y_shape.back()}, fb::DType::Float32);
  if (e.gradient) input(saved, saved_type);
  if (e.saves) output(saved, saved_type);
  if (e.sums == fb::Summed::Y || e.sums == fb::Summed::Kernel) output({c.y_shape.back()}, fb::DType::Float32);
  if (e.sums == fb::Summed::X) output({c.x_shape.back()}, fb::DType::Float32);
  if (e.residual) input(c.y_shape, LibraryType(c.y_dtype));
}

absl::Status CheckShapes(const fb::LibraryCallT& c, fb::Primitive primitive) {
  switch (primitive) {
    case fb::Primitive::MatMul:
      return CheckMatMul(c);
    case fb::Primitive::BatchMatMul:
      return CheckBatchMatMul(c);
    default:
      return CheckConvolution(c);
  }
}

}  // namespace

fb::DType LibraryType(fb::DType type) { return type == fb::DType::Invalid ? fb::DType::Float32 : type; }

std::vector<int64_t> ReluMaskShape(const std::vector<int64_t>& y_shape) {
  std::vector<int64_t> shape = y_shape;
  shape.back() = (shape.back() + 127) / 128 * 16;
  return shape;
}

int64_t Groups(const fb::LibraryCallT& call) { return call.x_shape[3] / call.kernel_shape[2]; }

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
  Primitive p = c.primitive;
  if (p == Primitive::PackWeights) {
    p = c.packed_for;
    if (p != Primitive::Conv2D && p != Primitive::Conv2DInputGrad && p != Primitive::MatMul) {
      return Bad("packed_for must be a primitive with a kernel operand");
    }
  }
  absl::Status shapes = CheckShapes(c, p);
  if (!shapes.ok()) return shapes;
  if (absl::Status types = CheckTypes(c, p); !types.ok()) return types;
  const fb::DType x = LibraryType(c.x_dtype), y = LibraryType(c.y_dtype);
  const fb::DType k = c.packed ? fb::DType::Invalid : LibraryType(c.kernel_dtype);
  TD_RETURN_IF_ERROR(CheckEpilogue(c, p));
  std::vector<int64_t> kernel = c.packed ? std::vector<int64_t>() : c.kernel_shape;
  LibraryOperands operands;
  switch (c.primitive) {
    case Primitive::Conv2D:
    case Primitive::MatMul:
      operands.inputs = {c.x_shape, kernel};
      operands.input_types = {x, k};
      operands.outputs = {c.y_shape};
      operands.output_types = {y};
      AddEpilogueOperands(c, operands);
      break;
    case Primitive::BatchMatMul:
      if (c.packed) return Bad("BatchMatMul has no operand to pack");
      operands.inputs = {c.x_shape, c.kernel_shape};
      operands.input_types = {x, k};
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
