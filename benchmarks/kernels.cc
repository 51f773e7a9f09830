// benchmarks/kernels FILE: times the generated kernels of a module, such as `tandem-opt --compile-to=fusion` prints.
//
// Compiles for this machine each kernel that computes rows of the batch or blocks of its result, runs the kernels in
// turns on random operands, and measures the thread's CPU time, so that other programs matter less. Prints for each
// kernel the microseconds per row (the median of all turns and the best), the bytes of its operands and results per
// second (each counted once, as if nothing stayed in a cache), and the operations per second.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/median.h"
#include "base/processor_time.h"
#include "base/status_macros.h"
#include "graph/ir/dialect.h"
#include "graph/ir/reference_util.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/compile.h"
#include "passes/codegen/kernel_ir.h"
#include "passes/codegen/optimize.h"
#include "passes/exec/kernel_kind.h"
#include "runtime/commands/block_kernel.h"

ABSL_FLAG(int, rows, 32, "rows of a microbatch");
ABSL_FLAG(std::string, kernel, "", "only the kernel of this name");
ABSL_FLAG(bool, bfloat16, true, "use the CPU's conversion to bfloat16, as mixed_bfloat16 does, where it has one");
ABSL_FLAG(int, turns, 30, "how often each kernel is timed, in turn with the others");
ABSL_FLAG(bool, ir, false, "also print the kernels' LLVM IR");
ABSL_FLAG(std::string, object, "", "write the (last) kernel's object to this file, for a disassembler");

namespace tandem {
namespace {

using Entry = void (*)(void* const*, int64_t, int64_t, int64_t);

template <typename T>
absl::StatusOr<T> FromLlvm(llvm::Expected<T> value) {
  if (!value) return absl::InternalError(llvm::toString(value.takeError()));
  return std::move(*value);
}

// Buffers for a kernel's operands and results. Floats are normally distributed; other types are filled with small
// numbers.
struct Buffers {
  std::vector<std::vector<char>> memory;
  std::vector<void*> args;
  double bytes = 0;

  void Add(mlir::Type type, int64_t rows, std::mt19937& random) {
    mlir::Type element = mlir::getElementTypeOrSelf(type);
    const int64_t count = td::RowElements(type) * (td::IsBatched(type) ? rows : 1);
    const int64_t width = std::max<int64_t>(8, element.getIntOrFloatBitWidth()) / 8;
    memory.emplace_back(count * width + 64);
    char* data = memory.back().data() + (64 - reinterpret_cast<uintptr_t>(memory.back().data()) % 64) % 64;
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count; ++i) {
      if (element.isF32()) {
        reinterpret_cast<float*>(data)[i] = normal(random);
      } else if (element.isBF16()) {
        reinterpret_cast<uint16_t*>(data)[i] = ToBFloat16Bits(normal(random));
      } else if (!element.isF64()) {
        data[i * width] = static_cast<char>(random() % (element.isInteger(1) ? 2 : 4));
      }
    }
    args.push_back(data);
    bytes += static_cast<double>(count * width);
  }
};

// A kernel that can be called, with its own buffers, and the measured seconds of its calls.
struct TimedKernel {
  std::string name, ops;
  double bytes = 0, flops = 0;  // bytes and operations of one call
  std::function<void()> call;
  std::vector<double> seconds;
};

absl::Status Prepare(mlir::func::FuncOp kernel, const CpuTarget& target, std::vector<TimedKernel>* kernels) {
  TD_ASSIGN_OR_RETURN(CompiledKernel compiled, CompileKernel(kernel, target));
  if (compiled.domain != format::Domain::kRows && compiled.domain != format::Domain::kBlocks) return absl::OkStatus();
  if (absl::GetFlag(FLAGS_ir)) {
    TD_ASSIGN_OR_RETURN(const std::string ir, LlvmIrText(compiled.bitcode));
    std::cout << ir;
  }
  if (std::string path = absl::GetFlag(FLAGS_object); !path.empty()) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << compiled.elf_object;
  }
  TD_ASSIGN_OR_RETURN(auto jit, FromLlvm(llvm::orc::LLJITBuilder().create()));
  TD_ASSIGN_OR_RETURN(auto process, FromLlvm(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
  jit->getMainJITDylib().addGenerator(std::move(process));
  if (auto error = jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(compiled.elf_object))) {
    return absl::InternalError(llvm::toString(std::move(error)));
  }
  TD_ASSIGN_OR_RETURN(auto address, FromLlvm(jit->lookup(compiled.symbol)));
  auto entry = address.toPtr<Entry>();

  const int64_t rows = absl::GetFlag(FLAGS_rows);
  // A kernel over blocks (of its result) computes each block from all rows of the batch.
  const bool blocks = compiled.domain == format::Domain::kBlocks;
  auto result = mlir::cast<mlir::RankedTensorType>(kernel.getResultTypes()[0]);
  const int64_t end = blocks ? result.getNumElements() / result.getShape().back() : rows;
  std::mt19937 random(1);
  Buffers buffers;
  for (mlir::Type t : kernel.getArgumentTypes()) buffers.Add(t, rows, random);
  for (mlir::Type t : kernel.getResultTypes()) buffers.Add(t, rows, random);
  if (blocks) buffers.args.insert(buffers.args.end(), kFetchedMatrices, buffers.args.back());
  double flops = 0;
  std::string ops;
  kernel.walk([&](td::CostOp op) {
    flops += static_cast<double>(op.getFlops() * rows);
    absl::StrAppend(&ops, " ", op->getName().getStringRef().str());
  });
  TimedKernel timed{kernel.getName().str(), ops, buffers.bytes, flops};
  timed.call = [jit = std::shared_ptr<llvm::orc::LLJIT>(std::move(jit)), entry, end, rows = blocks ? rows : 0,
                held = std::make_shared<Buffers>(std::move(buffers))] { entry(held->args.data(), 0, end, rows); };
  kernels->push_back(std::move(timed));
  return absl::OkStatus();
}

void TimeByTurns(std::vector<TimedKernel>& kernels, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    for (TimedKernel& kernel : kernels) {
      kernel.call();  // warms up the caches, which the other kernels have filled
      const double start = ThreadProcessorSeconds();
      int calls = 0;
      for (; ThreadProcessorSeconds() - start < 0.01; ++calls) kernel.call();
      kernel.seconds.push_back((ThreadProcessorSeconds() - start) / calls);
    }
  }
}

void Print(const TimedKernel& kernel, int64_t rows) {
  const double best = *std::min_element(kernel.seconds.begin(), kernel.seconds.end()), median = Median(kernel.seconds);
  std::printf("%-12s %10.3f us/row (best %10.3f) %8.2f GB/s %8.2f GFLOP/s %s\n", kernel.name.c_str(),
              1e6 * median / rows, 1e6 * best / rows, 1e-9 * kernel.bytes / median, 1e-9 * kernel.flops / median,
              kernel.ops.c_str());
}

absl::Status Main(const std::vector<std::string>& files) {
  if (files.size() != 1) return absl::InvalidArgumentError("give one file with kernels (functions with exec.kernel)");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  mlir::MLIRContext context;
  context.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(files[0], &context);
  if (!module) return absl::InvalidArgumentError(absl::StrCat(files[0], " is no valid module"));
  TD_ASSIGN_OR_RETURN(CpuTarget target, HostCpuTarget());
  if (absl::GetFlag(FLAGS_bfloat16)) UseBFloat16(&target);
  std::vector<TimedKernel> kernels;
  const std::string only = absl::GetFlag(FLAGS_kernel);
  for (auto kernel : module->getOps<mlir::func::FuncOp>()) {
    if (!exec::GetKernelKind(kernel) || (!only.empty() && kernel.getName() != only)) continue;
    TD_RETURN_IF_ERROR(Prepare(kernel, target, &kernels));
  }
  TimeByTurns(kernels, std::max(1, absl::GetFlag(FLAGS_turns)));
  for (const TimedKernel& kernel : kernels) Print(kernel, absl::GetFlag(FLAGS_rows));
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  std::vector<std::string> files;
  if (std::optional<int> code = tandem::ParseFlags(argc, argv, "times the generated kernels of a module", &files))
    return *code;
  absl::Status status = tandem::Main(files);
  if (!status.ok()) std::cerr << "kernels: " << status.message() << "\n";
  return tandem::ExitCodeFor(status);
}
