#include "runtime/cuda/testing/kernel_walk.h"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "runtime/cuda/testing/walked_block.h"
#include "runtime/cuda/testing/walked_matrices.h"

namespace tandem {
namespace {

// Implementations of the functions of passes/codegen/gpu/device.h.
uint32_t Thread() { return WalkedBlock::Current()->thread(); }
uint32_t Block() { return WalkedBlock::Current()->number(); }
void SyncBlock() { WalkedBlock::Current()->Meet(WalkedBlock::Wait::kBlock, 0, 0); }
void SyncWarp() { WalkedBlock::Current()->Meet(WalkedBlock::Wait::kWarp, 0, 0); }
uint32_t ShuffleXor(uint32_t value, uint32_t mask) {
  return WalkedBlock::Current()->Meet(WalkedBlock::Wait::kShuffle, value, mask);
}
// No atomics are needed, because blocks run one after the other.
uint32_t Arrive(uint32_t* counter, uint32_t count) {
  const bool last = *counter == count - 1;
  *counter = last ? 0 : *counter + 1;
  return last;
}
void* Shared() { return WalkedBlock::Current()->shared(); }

template <typename F>
void* Address(F* f) {
  return reinterpret_cast<void*>(f);
}

struct Provided {
  const char* name;
  void* address;
};

// Besides these functions: those that LLVM makes of loops that copy, and of instructions that an old CPU lacks.
const Provided kProvided[] = {{"td_thread", Address(Thread)},
                              {"td_block", Address(Block)},
                              {"td_sync_block", Address(SyncBlock)},
                              {"td_sync_warp", Address(SyncWarp)},
                              {"td_shuffle_xor", Address(ShuffleXor)},
                              {"td_arrive", Address(Arrive)},
                              {"td_shared", Address(Shared)},
                              {"td_exp", Address<float(float)>(expf)},
                              {"td_pack_bf16", Address(WalkedPackBFloat16)},
                              {"td_round_tf32", Address(WalkedRoundToTensorFloat32)},
                              {"td_load_matrices", Address(WalkedLoadMatrices)},
                              {"td_load_transposed", Address(WalkedLoadTransposed)},
                              {"td_multiply_add", Address(WalkedMultiplyAdd)},
                              {"td_multiply_add_tf32", Address(WalkedMultiplyAddTensorFloat32)},
                              {"memcpy", Address(memcpy)},
                              {"memset", Address(memset)},
                              {"memmove", Address(memmove)},
                              {"fmaf", Address<float(float, float, float)>(fmaf)},
                              {"fma", Address<double(double, double, double)>(fma)},
                              {"floorf", Address<float(float)>(floorf)},
                              {"floor", Address<double(double)>(floor)}};

absl::Status FromLlvm(llvm::Error error) {
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("kernel walk: ", llvm::toString(std::move(error))));
}

struct Entry {
  WalkedBlock::Thread thread = nullptr;
  uint64_t shared_bytes = 0;
  bool syncs = false;
};

class Kernels final : public WalkedKernels {
 public:
  absl::Status Load(const std::vector<absl::string_view>& elf_objects, const std::vector<std::string>& symbols) {
    static std::once_flag once;
    std::call_once(once, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    llvm::orc::LLJITBuilder builder;
    builder.setLinkProcessSymbolsByDefault(false);
    builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
    auto jit = builder.create();
    if (!jit) return FromLlvm(jit.takeError());
    jit_ = std::move(*jit);
    llvm::orc::SymbolMap provided;
    for (const Provided& p : kProvided) {
      provided[jit_->mangleAndIntern(p.name)] = {llvm::orc::ExecutorAddr::fromPtr(p.address),
                                                 llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    TD_RETURN_IF_ERROR(FromLlvm(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(provided)))));
    for (absl::string_view object : elf_objects) {
      auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()));
      TD_RETURN_IF_ERROR(FromLlvm(jit_->addObjectFile(std::move(buffer))));
    }
    for (const std::string& symbol : symbols) {
      auto thread = jit_->lookup(symbol);
      if (!thread) return FromLlvm(thread.takeError());
      auto shared = jit_->lookup(symbol + "_shared_bytes"), syncs = jit_->lookup(symbol + "_syncs");
      if (!shared) return FromLlvm(shared.takeError());
      if (!syncs) return FromLlvm(syncs.takeError());
      entries_[symbol] = {thread->toPtr<WalkedBlock::Thread>(), *shared->toPtr<const uint64_t*>(),
                          *syncs->toPtr<const uint64_t*>() != 0};
    }
    return absl::OkStatus();
  }

  absl::Status Launch(const std::string& symbol, uint32_t grid, uint32_t block, uint32_t shared_bytes, void** params,
                      bool backwards) override {
    auto entry = entries_.find(symbol);
    if (entry == entries_.end()) return absl::NotFoundError(absl::StrCat("kernel walk: no kernel ", symbol));
    if (grid == 0 || block == 0 || block > 1024 || (entry->second.syncs && block % 32 != 0)) {
      return absl::InternalError(
          absl::StrCat("kernel walk: ", symbol, " cannot run ", grid, " blocks of ", block, " threads"));
    }
    WalkedBlock walked(entry->second.thread, block, entry->second.shared_bytes + shared_bytes, entry->second.syncs,
                       params);
    for (uint32_t b = 0; b < grid; ++b) {
      if (absl::Status s = walked.Run(backwards ? grid - 1 - b : b, backwards); !s.ok()) {
        return absl::InternalError(absl::StrCat("kernel ", symbol, ": ", std::string(s.message())));
      }
    }
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::map<std::string, Entry> entries_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<WalkedKernels>> WalkedKernels::Load(const std::vector<absl::string_view>& elf_objects,
                                                                   const std::vector<std::string>& symbols) {
  auto kernels = std::make_unique<Kernels>();
  TD_RETURN_IF_ERROR(kernels->Load(elf_objects, symbols));
  return kernels;
}

}  // namespace tandem
