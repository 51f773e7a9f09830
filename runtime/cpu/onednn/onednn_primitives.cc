#include "runtime/cpu/onednn/onednn_primitives.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/one_omp_thread.h"
#include "base/status_macros.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/cpu/onednn/direct_filter_grad_call.h"
#include "runtime/cpu/onednn/onednn_convolution.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/onednn/onednn_matmul.h"
#include "runtime/cpu/onednn/onednn_packing.h"
#include "runtime/cpu/onednn/onednn_plan.h"
#include "runtime/cpu/onednn/strided_pointwise.h"
#include "runtime/cpu/onednn/unpacked_gemm_call.h"
#include "runtime/library_calls/library_algorithm.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"

namespace tandem {
namespace {

using dnnl::memory;
using onednn::Argument;
using onednn::Engine;
using onednn::Plan;
using onednn::Source;
using onednn::Stage;

// `packed_for`: the same operation, perhaps with another number of rows, which determines the layout of packed weights.
Plan MakePlan(const format::LibraryCall& call, const format::LibraryCall& packed_for) {
  if (call.algorithm == format::Algorithm::kPointwiseProduct) {
    return onednn::PlanPointwiseProduct(*call.operation.As<format::Conv2D>());
  }
  if (const format::Conv2D* conv = call.operation.As<format::Conv2D>()) {
    return onednn::PlanOf(*conv, *packed_for.operation.As<format::Conv2D>());
  }
  if (const format::MatMul* product = call.operation.As<format::MatMul>()) {
    return onednn::PlanOf(*product, *packed_for.operation.As<format::MatMul>());
  }
  if (const format::BatchMatMul* product = call.operation.As<format::BatchMatMul>()) return onednn::PlanOf(*product);
  return onednn::PlanOf(*call.operation.As<format::PackWeights>());
}

Plan MakePlan(const format::LibraryCall& call) { return MakePlan(call, call); }

class Primitive final : public OneDnnPrimitive {
 public:
  Primitive(Plan plan, int num_threads) : plan_(std::move(plan)) {
    for (int t = 0; t < num_threads; ++t) {
      Thread thread{dnnl::stream(Engine()), {}};
      for (const Stage& stage : plan_.stages) {
        std::vector<memory> memories;
        std::vector<dnnl_exec_arg_t> arguments;
        for (const Argument& a : stage.arguments) {
          memories.emplace_back(a.desc, Engine(), static_cast<void*>(nullptr));
          arguments.push_back({a.id, memories.back().get()});
        }
        thread.stages.push_back({std::move(memories), std::move(arguments)});
      }
      threads_.push_back(std::move(thread));
    }
  }

  const std::string& implementation() const override { return plan_.implementation; }
  uint64_t scratch_bytes() const override { return temporary_bytes() + AlignUp(plan_.scratchpad_bytes, 64); }

  absl::Status RunParts(int thread, absl::Span<void* const> in, void* out, void* scratch, int64_t,
                        int64_t) const override {
    const Thread& t = threads_[thread];
    auto* bytes = static_cast<uint8_t*>(scratch);
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      const Stage& stage = plan_.stages[s];
      const ThreadStage& mine = t.stages[s];
      for (size_t i = 0; i < stage.arguments.size(); ++i) {
        void* p = nullptr;
        switch (stage.arguments[i].source) {
          case Source::kOutput:
            p = out;
            break;
          case Source::kTemporary:
            p = bytes;
            break;
          case Source::kScratchpad:
            p = bytes + temporary_bytes();
            break;
          default:
            p = in[static_cast<int>(stage.arguments[i].source)];
        }
        dnnl_memory_set_data_handle(mine.memories[i].get(), p);
      }
      dnnl_status_t status = dnnl_primitive_execute(stage.primitive.get(), t.stream.get(),
                                                    static_cast<int>(mine.arguments.size()), mine.arguments.data());
      if (status != dnnl_success) {
        return absl::InternalError(absl::StrCat("oneDNN's ", plan_.implementation, " failed with status ", status));
      }
    }
    return absl::OkStatus();
  }

 private:
  uint64_t temporary_bytes() const { return AlignUp(plan_.temporary_bytes, 64); }

  struct ThreadStage {
    std::vector<memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Thread {
    dnnl::stream stream;
    std::vector<ThreadStage> stages;
  };

  Plan plan_;
  std::vector<Thread> threads_;
};

absl::Status CheckCall(const format::LibraryCall& call) {
  TD_RETURN_IF_ERROR(CheckLibraryCall(call).status());
  TD_RETURN_IF_ERROR(CheckAlgorithm(call));
  const bool own = call.algorithm == format::Algorithm::kUnpackedGemm ||
                   call.algorithm == format::Algorithm::kDirectFilterGrad ||
                   call.algorithm == format::Algorithm::kPackPanels;
  if (own && !UsesAvx512()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the algorithm ", format::Name(call.algorithm), " needs AVX-512"));
  }
  const format::Epilogue epilogue = InfoOf(call).epilogue;
  if (epilogue.is_forward()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the epilogue ", epilogue.Text(), " is for GPUs"));
}

absl::Status FromException(const dnnl::error& error) {
  if (error.status == dnnl_out_of_memory) return absl::ResourceExhaustedError("oneDNN is out of memory");
  return absl::UnimplementedError(absl::StrCat("oneDNN has no such primitive: ", error.what()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> OneDnnPrimitive::Create(const format::LibraryCall& call,
                                                                         int num_threads) {
  return Create(call, num_threads, call);
}

absl::StatusOr<std::unique_ptr<OneDnnPrimitive>> OneDnnPrimitive::Create(const format::LibraryCall& call,
                                                                         int num_threads,
                                                                         const format::LibraryCall& packed_for) {
  TD_RETURN_IF_ERROR(CheckCall(call));
  const OneOmpThread one("preparing a step");
  try {
    switch (call.algorithm) {
      case format::Algorithm::kUnpackedGemm:
        return MakeUnpackedGemm(*call.operation.As<format::MatMul>());
      case format::Algorithm::kDirectFilterGrad:
        return MakeDirectFilterGrad(*call.operation.As<format::Conv2D>());
      case format::Algorithm::kPackPanels: {
        const auto panels = onednn::PackedPanels(*call.operation.As<format::PackWeights>());
        if (!panels) return absl::InvalidArgumentError("the layout that is packed has no panels");
        return onednn::MakePanelPacking(*panels);
      }
      case format::Algorithm::kDensePointwise: {
        const format::Conv2D& conv = *call.operation.As<format::Conv2D>();
        auto dense = std::make_unique<Primitive>(MakePlan(DensePointwiseCall(conv)), num_threads);
        return MakeStridedPointwiseGrad(conv, std::move(dense));
      }
      default:
        break;
    }
    return std::make_unique<Primitive>(MakePlan(call, packed_for), num_threads);
  } catch (const dnnl::error& error) {
    return FromException(error);
  }
}

bool PacksPanels(const format::LibraryCall& call) {
  const format::PackWeights* packing = call.operation.As<format::PackWeights>();
  if (packing == nullptr || !CheckCall(call).ok()) return false;
  const OneOmpThread one("preparing a step");
  try {
    return onednn::PackedPanels(*packing).has_value();
  } catch (const dnnl::error&) {
    return false;
  }
}

absl::StatusOr<uint64_t> PackedWeightsBytes(const format::LibraryCall& call) {
  if (call.operation.As<format::PackWeights>() == nullptr) return PackedWeightsBytes(PackingFor(call));
  TD_RETURN_IF_ERROR(CheckCall(call));
  const OneOmpThread one("preparing a step");
  try {
    return onednn::PackedBytes(*call.operation.As<format::PackWeights>());
  } catch (const dnnl::error& error) {
    return FromException(error);
  }
}

absl::StatusOr<std::string> ImplementationName(const format::LibraryCall& call) {
  TD_RETURN_IF_ERROR(CheckCall(call));
  const OneOmpThread one("preparing a step");
  try {
    switch (call.algorithm) {
      case format::Algorithm::kUnpackedGemm:
        return kUnpackedGemmName;
      case format::Algorithm::kDirectFilterGrad:
        return kDirectFilterGradName;
      case format::Algorithm::kPackPanels:
        return onednn::kPackPanels;
      case format::Algorithm::kDensePointwise:
        return StridedPointwiseName(MakePlan(DensePointwiseCall(*call.operation.As<format::Conv2D>())).implementation);
      default:
        break;
    }
    return MakePlan(call).implementation;
  } catch (const dnnl::error& error) {
    return FromException(error);
  }
}

}  // namespace tandem
