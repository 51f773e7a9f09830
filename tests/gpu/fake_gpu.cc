#include "tests/gpu/fake_gpu.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/dialect.h"
#include "gtest/gtest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/cpu_target.h"
#include "passes/codegen/gpu/compile_gpu.h"
#include "passes/exec/dialect.h"
#include "runtime/commands/command.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_library_kernels.h"

namespace tandem {

namespace fs = std::filesystem;

namespace {

// The kernels of the executable for the CPU, under the symbols that they have in it: from the text of the last phase
// before code is made. What the jobs of a test have in common is compiled once.
absl::StatusOr<CompiledGpuKernels> CompileForTheCpu(const Executable& executable) {
  const format::Index& index = executable.index();
  const auto text = std::find_if(index.segments.begin(), index.segments.end(), [](const auto& segment) {
    return segment.kind == format::SegmentKind::kIrText && segment.name == "memory";
  });
  if (text == index.segments.end()) return absl::InternalError("the executable has no text of phase memory");
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, td::TdDialect, exec::ExecDialect>();
  mlir::MLIRContext context(registry);
  const int segment = static_cast<int>(text - index.segments.begin());
  auto module = mlir::parseSourceString<mlir::ModuleOp>(std::string(executable.segment(segment)), &context);
  if (!module) return absl::InternalError("the text of phase memory cannot be read");
  GpuCompileOptions options;
  options.archs.clear();
  for (const auto& image : index.images) options.archs.push_back(static_cast<int>(image.arch));
  options.rows = exec::CompileConfigAttr::of(*module).getBatch();
  options.build = index.producer.substr(std::string("tandem ").size());
  options.walk = true;
  options.ptx = false;
  options.cache = KernelCache(absl::StrCat(testing::TempDir(), "/walked_kernels"));
  TD_ASSIGN_OR_RETURN(options.walk_target, HostCpuTarget());
  return CompileGpuKernels(*module, options);
}

}  // namespace

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
      if (executable->index().images.empty()) continue;  // for CPUs
      std::vector<absl::string_view> objects;
      std::vector<std::string> symbols;
      std::set<const format::Kernel*> grouped;
      for (const std::unique_ptr<Command>& command : CommandsInOrder(executable->index().programs[0])) {
        const std::optional<KernelLaunches> launches = command->launches();
        if (launches && launches->grouped) grouped.insert(&executable->index().kernels[launches->kernel]);
      }
      TD_ASSIGN_OR_RETURN(const CompiledGpuKernels compiled, CompileForTheCpu(*executable));
      for (const auto& kernel : executable->index().kernels) {
        if (!kernel.gpu || by_symbol_.count(kernel.symbol) > 0) continue;
        const auto code = std::find_if(compiled.kernels.begin(), compiled.kernels.end(),
                                       [&](const CompiledGpuKernel& k) { return k.symbol == kernel.symbol; });
        if (code == compiled.kernels.end()) {
          return absl::InternalError(absl::StrCat("the kernel ", kernel.symbol, " is not compiled for the CPU"));
        }
        objects.push_back(code->walk_object);
        symbols.push_back(kernel.symbol);
        if (grouped.count(&kernel) > 0) symbols.push_back(GpuGroupSymbol(kernel.symbol));
      }
      TD_ASSIGN_OR_RETURN(std::unique_ptr<WalkedKernels> walk, WalkedKernels::Load(objects, symbols));
      for (const std::string& symbol : symbols) by_symbol_[symbol] = walk.get();
      walks_.push_back(std::move(walk));
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem
