#include "runtime/library_calls/pack_weights.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Checks that `packing.reader` is a valid call that reads packed weights. It must have no epilogue, on which the
// weights' layout does not depend.
absl::Status CheckReader(const format::PackWeights& packing) {
  const OperationInfo reader = packing.reader.Visited([](const auto& op) { return InfoOf(op); });
  if (reader.name.empty() || reader.reduces_batch) {
    return BadOperation("weights are packed for a Conv2D, its input gradient or a MatMul over rows only");
  }
  if (!reader.packed || !reader.epilogue.empty()) {
    return BadOperation("the reader of packed weights must be packed and without an epilogue");
  }
  return packing.reader.Visited([](const auto& op) { return CheckOperation(op).status(); });
}

}  // namespace

format::LibraryCall PackingFor(const format::LibraryCall& reader) {
  format::PackWeights packing;
  if (const format::Conv2D* conv = reader.operation.As<format::Conv2D>()) {
    format::Conv2D plain = *conv;
    plain.packed = true;
    plain.epilogue = {};
    packing.plain_dtype = conv->kernel_dtype;
    packing.reader = std::move(plain);
  } else if (const format::MatMul* product = reader.operation.As<format::MatMul>()) {
    format::MatMul plain = *product;
    plain.packed = true;
    plain.reduces_batch = false;
    plain.epilogue = {};
    packing.plain_dtype = product->b_dtype;
    packing.reader = std::move(plain);
  }
  format::LibraryCall call;
  call.operation = std::move(packing);
  return call;
}

format::LibraryCall ReaderOf(const format::PackWeights& packing) {
  format::LibraryCall call;
  if (const format::Conv2D* conv = packing.reader.As<format::Conv2D>()) call.operation = format::Conv2D(*conv);
  if (const format::MatMul* product = packing.reader.As<format::MatMul>()) call.operation = format::MatMul(*product);
  return call;
}

OperationInfo InfoOf(const format::PackWeights& packing) {
  const OperationInfo reader = packing.reader.Visited([](const auto& op) { return InfoOf(op); });
  OperationInfo info;
  info.name = "PackWeights";
  info.weights_shape = reader.weights_shape;
  info.weights_dtype = reader.weights_dtype;
  info.packed = true;
  return info;
}

std::string TextOf(const format::PackWeights& packing) {
  return absl::StrCat("PackWeights of ", Name(packing.plain_dtype), " for ",
                      packing.reader.Visited([](const auto& reader) { return TextOf(reader); }));
}

absl::StatusOr<LibraryOperands> CheckOperation(const format::PackWeights& packing) {
  TD_RETURN_IF_ERROR(CheckReader(packing));
  if (!IsLibraryType(packing.plain_dtype)) return BadOperation("types must be Float32 or BFloat16");
  LibraryOperands operands;
  operands.AddInput(InfoOf(packing).weights_shape, packing.plain_dtype);
  operands.AddOutput({}, DType::kInvalid);
  return operands;
}

}  // namespace tandem
