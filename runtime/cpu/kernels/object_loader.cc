#include "runtime/cpu/kernels/object_loader.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/exit_code.h"
#include "base/llvm_memory.h"
#include "base/status_macros.h"
#include "base/tile_registers.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// The functions that kernels may call. Any other is a mistake of the compiler and must fail here, by name.
struct Allowed {
  const char* name;
  void* address;
};

template <typename F>
void* Address(F* f) {
  return reinterpret_cast<void*>(f);
}

using Float1 = float(float);
using Float2 = float(float, float);
using Double1 = double(double);
using Double2 = double(double, double);

const Allowed kAllowed[] = {
    {"expf", Address<Float1>(expf)},     {"exp2f", Address<Float1>(exp2f)},   {"expm1f", Address<Float1>(expm1f)},
    {"logf", Address<Float1>(logf)},     {"log2f", Address<Float1>(log2f)},   {"log1pf", Address<Float1>(log1pf)},
    {"tanhf", Address<Float1>(tanhf)},   {"erff", Address<Float1>(erff)},     {"sinf", Address<Float1>(sinf)},
    {"cosf", Address<Float1>(cosf)},     {"sqrtf", Address<Float1>(sqrtf)},   {"floorf", Address<Float1>(floorf)},
    {"ceilf", Address<Float1>(ceilf)},   {"roundf", Address<Float1>(roundf)}, {"rintf", Address<Float1>(rintf)},
    {"truncf", Address<Float1>(truncf)}, {"powf", Address<Float2>(powf)},     {"fmodf", Address<Float2>(fmodf)},
    {"fmaxf", Address<Float2>(fmaxf)},   {"fminf", Address<Float2>(fminf)},   {"exp", Address<Double1>(exp)},
    {"exp2", Address<Double1>(exp2)},    {"expm1", Address<Double1>(expm1)},  {"log", Address<Double1>(log)},
    {"log2", Address<Double1>(log2)},    {"log1p", Address<Double1>(log1p)},  {"tanh", Address<Double1>(tanh)},
    {"erf", Address<Double1>(erf)},      {"sin", Address<Double1>(sin)},      {"cos", Address<Double1>(cos)},
    {"sqrt", Address<Double1>(sqrt)},    {"floor", Address<Double1>(floor)},  {"ceil", Address<Double1>(ceil)},
    {"round", Address<Double1>(round)},  {"rint", Address<Double1>(rint)},    {"trunc", Address<Double1>(trunc)},
    {"pow", Address<Double2>(pow)},      {"fmod", Address<Double2>(fmod)},    {"fmax", Address<Double2>(fmax)},
    {"fmin", Address<Double2>(fmin)},    {"memcpy", Address(memcpy)},         {"memset", Address(memset)},
    {"memmove", Address(memmove)},
};

// The sanitizers' runtimes, which instrumented kernels call.
constexpr absl::string_view kAddressSymbols = "__asan_", kThreadSymbols = "__tsan_";

absl::Status LinkError(const Executable& executable, absl::string_view what, llvm::Error error) {
  const std::string message = absl::StrCat(executable.name(), ": ", what, ": ", llvm::toString(std::move(error)));
  // When a mapping fails, LLVM's error has only the system's text for it.
  if (absl::StrContains(message, std::strerror(ENOMEM))) return absl::ResourceExhaustedError(message);
  return WithExitCode(absl::DataLossError(absl::StrCat(message, "; delete the file, it will be compiled again")),
                      kExitBadData);
}

class Kernels final : public LoadedKernels {
 public:
  absl::Status Load(const Executable& executable) {
    static std::once_flag once;
    std::call_once(once, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    const format::Index& index = executable.index();
    std::set<uint32_t> objects;
    for (const auto& kernel : index.kernels) objects.insert(kernel.segment);
    if (objects.empty()) return absl::OkStatus();
    TD_RETURN_IF_ERROR(CreateJit(executable));
    for (uint32_t segment : objects) {
      absl::string_view bytes = executable.segment(static_cast<int>(segment));
      auto buffer = llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(bytes.data(), bytes.size()),
                                                     index.segments[segment].name, false);
      if (auto error = jit_->addObjectFile(std::move(buffer))) {
        return LinkError(executable, absl::StrCat("segments[", segment, "]"), std::move(error));
      }
    }
    for (const auto& kernel : index.kernels) {
      auto address = jit_->lookup(kernel.symbol);
      if (!address) {
        std::string what = absl::StrCat("kernel ", kernel.name, " (symbol ", kernel.symbol, ")");
        std::lock_guard<std::mutex> lock(mutex_);
        if (absl::string_view config = MissingSanitizer(); !config.empty()) {
          llvm::consumeError(address.takeError());
          return absl::FailedPreconditionError(
              absl::StrCat(executable.name(), ": its kernels were compiled for a sanitizer that this program does not ",
                           "have; build it with --config=", config, ", or compile the model again"));
        }
        return LinkError(executable, reported_.empty() ? what : absl::StrCat(what, ": ", reported_),
                         address.takeError());
      }
      functions_.push_back(address->toPtr<KernelFunction>());
    }
    return absl::OkStatus();
  }

  KernelFunction function(int kernel) const override { return functions_[kernel]; }

 private:
  absl::Status CreateJit(const Executable& executable) {
    llvm::orc::LLJITBuilder builder;
    // No platform and no symbols of the process are needed: kernels have no constructors and call nothing but kAllowed.
    builder.setLinkProcessSymbolsByDefault(false);
    builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
    auto jit = builder.create();
    if (!jit) return LinkError(executable, "cannot create the linker", jit.takeError());
    jit_ = std::move(*jit);
    // By default LLVM prints errors that it also returns.
    jit_->getExecutionSession().setErrorReporter([this](llvm::Error error) {
      std::lock_guard<std::mutex> lock(mutex_);
      reported_ += llvm::toString(std::move(error)) + "; ";
    });
    llvm::orc::SymbolMap symbols;
    for (const Allowed& a : kAllowed) {
      symbols[jit_->mangleAndIntern(a.name)] = {llvm::orc::ExecutorAddr::fromPtr(a.address),
                                                llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    if (auto error = jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
      return LinkError(executable, "cannot define the C library's functions", std::move(error));
    }
    return DefineSanitizer(executable);
  }

  absl::Status DefineSanitizer(const Executable& executable) {
    // GCC's thread sanitizer intercepts the C library's functions, and lacks the __tsan_ functions that other compilers
    // call.
    llvm::orc::SymbolMap symbols;
    for (const auto& [name, address] :
         {std::pair("__tsan_memcpy", Address(memcpy)), std::pair("__tsan_memset", Address(memset)),
          std::pair("__tsan_memmove", Address(memmove))}) {
      symbols[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    if (auto error = jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)))) {
      return LinkError(executable, "cannot define the sanitizer's functions", std::move(error));
    }
    auto runtime = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        jit_->getDataLayout().getGlobalPrefix(), [](const llvm::orc::SymbolStringPtr& symbol) {
          const absl::string_view name((*symbol).data(), (*symbol).size());
          return absl::StartsWith(name, kAddressSymbols) || absl::StartsWith(name, kThreadSymbols);
        });
    if (!runtime) return LinkError(executable, "cannot look for the sanitizer's functions", runtime.takeError());
    jit_->getMainJITDylib().addGenerator(std::move(*runtime));
    return absl::OkStatus();
  }

  // Returns the build configuration whose sanitizer the symbols in reported_ belong to; empty for other symbols. Needs
  // mutex_.
  absl::string_view MissingSanitizer() const {
    if (absl::StrContains(reported_, kAddressSymbols)) return "asan";
    if (absl::StrContains(reported_, kThreadSymbols)) return "tsan";
    return "";
  }

  std::mutex mutex_;
  std::string reported_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::vector<KernelFunction> functions_;
};

}  // namespace

absl::Status CheckTargetFeatures(absl::string_view target) {
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::vector<absl::string_view> words = absl::StrSplit(target, ' ', absl::SkipEmpty());
  std::vector<std::string> missing;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i == 0) {
      if (words[0] != "x86-64") missing.push_back(std::string(words[0]));
    } else if (!host.lookup(llvm::StringRef(words[i].data(), words[i].size())) ||
               (words[i] == "amx-tile" && !RequestTileRegisters())) {
      missing.push_back(std::string(words[i]));
    }
  }
  if (missing.empty()) return absl::OkStatus();
  std::string list;
  for (const std::string& m : missing) absl::StrAppend(&list, list.empty() ? "" : ", ", m);
  return absl::FailedPreconditionError(absl::StrCat("compiled for ", target, "; this machine has no ", list,
                                                    ": compile the model again on this machine"));
}

absl::StatusOr<std::unique_ptr<LoadedKernels>> LoadedKernels::Load(const Executable& executable) {
  const LlvmMemoryScope scope("loading kernels");
  if (absl::Status s = CheckTargetFeatures(executable.index().target); !s.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(executable.name(), ": ", s.message()));
  }
  auto kernels = std::make_unique<Kernels>();
  TD_RETURN_IF_ERROR(kernels->Load(executable));
  return kernels;
}

}  // namespace tandem
