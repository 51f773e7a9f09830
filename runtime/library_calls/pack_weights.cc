#include "runtime/library_calls/pack_weights.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// A call that reads packed weights, and nothing that their layout does not depend on.
absl::Status CheckReader(const fb::PackWeightsT& packing) {
  const OperationInfo reader = VisitReader(packing, [](const auto& op) { return InfoOf(op); });
  if (reader.name.empty() || reader.reduces_batch) {
    return BadOperation("weights are packed for a Conv2D, its input gradient or a MatMul over rows only");
  }
  if (!reader.packed || !reader.epilogue.empty()) {
    return BadOperation("the reader of packed weights must be packed and without an epilogue");
  }
  return VisitReader(packing, [](const auto& op) { return CheckOperation(op).status(); });
}

}  // namespace

fb::LibraryCallT PackingFor(const fb::LibraryCallT& reader) {
  fb::PackWeightsT packing;
  if (const fb::Conv2DT* conv = reader.operation.AsConv2D()) {
    fb::Conv2DT plain = *conv;
    plain.packed = true;
    plain.epilogue = {};
    packing.plain_dtype = conv->kernel_dtype;
    packing.reader.Set(std::move(plain));
  } else if (const fb::MatMulT* product = reader.operation.AsMatMul()) {
    fb::MatMulT plain = *product;
    plain.packed = true;
    plain.reduces_batch = false;
    plain.epilogue = {};
    packing.plain_dtype = product->b_dtype;
    packing.reader.Set(std::move(plain));
  }
  fb::LibraryCallT call;
  call.operation.Set(std::move(packing));
  return call;
}

fb::LibraryCallT ReaderOf(const fb::PackWeightsT& packing) {
  fb::LibraryCallT call;
  if (const fb::Conv2DT* conv = packing.reader.AsConv2D()) call.operation.Set(fb::Conv2DT(*conv));
  if (const fb::MatMulT* product = packing.reader.AsMatMul()) call.operation.Set(fb::MatMulT(*product));
  return call;
}

OperationInfo InfoOf(const fb::PackWeightsT& packing) {
  const OperationInfo reader = VisitReader(packing, [](const auto& op) { return InfoOf(op); });
  OperationInfo info;
  info.name = "PackWeights";
  info.weights_shape = reader.weights_shape;
  info.weights_dtype = reader.weights_dtype;
  info.packed = true;
  return info;
}

std::string TextOf(const fb::PackWeightsT& packing) {
  return absl::StrCat("PackWeights of ", Name(static_cast<DType>(packing.plain_dtype)), " for ",
                      VisitReader(packing, [](const auto& reader) { return TextOf(reader); }));
}

absl::StatusOr<LibraryOperands> CheckOperation(const fb::PackWeightsT& packing) {
  TD_RETURN_IF_ERROR(CheckReader(packing));
  if (!IsLibraryType(packing.plain_dtype)) return BadOperation("types must be Float32 or BFloat16");
  LibraryOperands operands;
  operands.AddInput(InfoOf(packing).weights_shape, packing.plain_dtype);
  operands.AddOutput({}, fb::DType::Invalid);
  return operands;
}

}  // namespace tandem
