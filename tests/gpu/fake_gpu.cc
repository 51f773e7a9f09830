#include "tests/gpu/fake_gpu.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_library_kernels.h"
#include "runtime/gpu_launch.h"
#include "runtime/step_dependencies.h"

namespace tandem {

namespace fs = std::filesystem;

FakeGpuMachine::FakeGpuMachine(int gpus) : driver_({.gpus = gpus}) {
  RegisterBuiltinKernels(driver_);
  RegisterLibraryKernels(driver_);
  driver_.set_fallback([this](const std::string& symbol, uint32_t grid, uint32_t block, uint32_t shared,
                              void** params) { return Launch(symbol, grid, block, shared, params); });
}

std::vector<std::string> FakeGpuMachine::TakeViolations() {
  std::vector<std::string> all = driver_.TakeViolations();
  for (const std::string& v : cublaslt_.TakeViolations()) all.push_back("cuBLASLt: " + v);
  for (const std::string& v : nccl_.TakeViolations()) all.push_back("NCCL: " + v);
  return all;
}

absl::Status FakeGpuMachine::Launch(const std::string& symbol, uint32_t grid, uint32_t block, uint32_t shared_bytes,
                                    void** params) {
  if (by_symbol_.count(symbol) == 0) TD_RETURN_IF_ERROR(LoadKernels());
  auto it = by_symbol_.find(symbol);
  if (it == by_symbol_.end()) return absl::NotFoundError(absl::StrCat("no code walks the kernel ", symbol));
  return it->second->Launch(symbol, grid, block, shared_bytes, params);
}

absl::Status FakeGpuMachine::LoadKernels() {
  for (const std::string& dir : dirs_) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(dir) / "compiled", error)) {
      const std::string path = entry.path().string();
      if (entry.path().extension() != ".tdx" || !read_.insert(path).second) continue;
      TD_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, Executable::Load(path));
      std::vector<absl::string_view> objects;
      std::vector<std::string> symbols;
      std::set<const fb::KernelT*> grouped;
      for (const fb::StepT* step : StepsInOrder(*executable->index().programs[0])) {
        const auto* group = step->body.AsGroupedLaunch();
        if (group != nullptr) grouped.insert(executable->index().kernels[group->kernel].get());
      }
      for (const auto& kernel : executable->index().kernels) {
        if (kernel->gpu == nullptr || kernel->gpu->walk_segment == 0 || by_symbol_.count(kernel->symbol) > 0) continue;
        objects.push_back(executable->segment(static_cast<int>(kernel->gpu->walk_segment) - 1));
        symbols.push_back(kernel->symbol);
        if (!kernel->gpu->finish_symbol.empty()) symbols.push_back(kernel->gpu->finish_symbol);
        if (grouped.count(kernel.get()) > 0) symbols.push_back(GpuGroupSymbol(kernel->symbol));
      }
      TD_ASSIGN_OR_RETURN(std::unique_ptr<WalkedKernels> walk, WalkedKernels::Load(objects, symbols));
      for (const std::string& symbol : symbols) by_symbol_[symbol] = walk.get();
      walks_.push_back(std::move(walk));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
