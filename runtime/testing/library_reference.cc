#include "runtime/testing/library_reference.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/variables/arena.h"

namespace tandem {

namespace {

void SetFloat32(format::LibraryCall& call) {
  constexpr DType kFloat32 = DType::kFloat32;
  if (format::Conv2D* conv = call.operation.As<format::Conv2D>())
    conv->x_dtype = conv->kernel_dtype = conv->y_dtype = kFloat32;
  if (format::MatMul* c = call.operation.As<format::MatMul>()) c->a_dtype = c->b_dtype = c->y_dtype = kFloat32;
  if (format::BatchMatMul* c = call.operation.As<format::BatchMatMul>())
    c->a_dtype = c->b_dtype = c->y_dtype = kFloat32;
}

}  // namespace

absl::StatusOr<std::vector<float>> RunInFloat32(format::LibraryCall call, const std::vector<const void*>& inputs) {
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
    if (operands.input_types[i] == DType::kBFloat16) {
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
