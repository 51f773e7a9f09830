#include "runtime/testing/library_reference.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/arena.h"
#include "runtime/cpu/onednn_primitives.h"
#include "runtime/cuda/gpu_library.h"
#include "runtime/library_call.h"

namespace tandem {

namespace {

void SetFloat32(fb::LibraryCallT& call) {
  constexpr fb::DType kFloat32 = fb::DType::Float32;
  if (fb::Conv2DT* conv = call.operation.AsConv2D()) conv->x_dtype = conv->kernel_dtype = conv->y_dtype = kFloat32;
  if (fb::MatMulT* c = call.operation.AsMatMul()) c->a_dtype = c->b_dtype = c->y_dtype = kFloat32;
  if (fb::BatchMatMulT* c = call.operation.AsBatchMatMul()) c->a_dtype = c->b_dtype = c->y_dtype = kFloat32;
}

}  // namespace

absl::StatusOr<std::vector<float>> RunInFloat32(fb::LibraryCallT call, const std::vector<const void*>& inputs) {
  SetPacked(call, false);
  TD_ASSIGN_OR_RETURN(const LibraryOperands operands, CheckGpuLibraryCall(call));
  SetFloat32(call);
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<OneDnnPrimitive> primitive, OneDnnPrimitive::Create(call, 1));
  std::vector<Arena> arenas;
  auto allocate = [&](uint64_t bytes) -> absl::StatusOr<float*> {
    TD_ASSIGN_OR_RETURN(Arena arena, Arena::Create(bytes, "reference"));
    arenas.push_back(std::move(arena));
    return reinterpret_cast<float*>(arenas.back().data());
  };
  std::vector<void*> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t n = NumElements(operands.inputs[i]);
    TD_ASSIGN_OR_RETURN(float* to, allocate(n * sizeof(float)));
    if (operands.input_types[i] == fb::DType::BFloat16) {
      const auto* from = static_cast<const uint16_t*>(inputs[i]);
      for (int64_t j = 0; j < n; ++j) to[j] = FromBFloat16Bits(from[j]);
    } else {
      std::copy_n(static_cast<const float*>(inputs[i]), n, to);
    }
    in.push_back(to);
  }
  const int64_t n = NumElements(operands.outputs[0]);
  TD_ASSIGN_OR_RETURN(float* out, allocate(n * sizeof(float)));
  TD_ASSIGN_OR_RETURN(float* scratch, allocate(primitive->scratch_bytes() + 64));
  TD_RETURN_IF_ERROR(primitive->Run(0, in, out, scratch));
  return std::vector<float>(out, out + n);
}

}  // namespace tandem
