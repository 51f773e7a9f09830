// Modules, functions and kernel launches of the fake driver. From a PTX text it reads only what it needs: the version,
// the target, and each entry with the sizes of its parameters.
#include <cstdlib>
#include <cstring>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/cuda/testing/fake_driver_state.h"

namespace tandem {
namespace {

using State = FakeDriverState;

std::string FirstMatch(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

// Removes line comments, which may hold anything.
std::string WithoutComments(const std::string& text) { return std::regex_replace(text, std::regex("//[^\n]*"), ""); }

std::map<std::string, std::unique_ptr<FakeFunction>> Entries(const std::string& text) {
  std::map<std::string, std::unique_ptr<FakeFunction>> functions;
  size_t at = 0;
  while ((at = text.find(".entry", at)) != std::string::npos) {
    const size_t open = text.find('(', at), close = text.find(')', at);
    if (open == std::string::npos || close == std::string::npos) break;
    auto function = std::make_unique<FakeFunction>();
    function->symbol = FirstMatch(text.substr(at, open - at + 1), "\\.entry\\s+([A-Za-z0-9_$]+)");
    const std::string params = text.substr(open, close - open);
    const std::regex param("\\.param\\s+(?:\\.align\\s+\\d+\\s+)?\\.[busf](\\d+)");
    for (std::sregex_iterator i(params.begin(), params.end(), param), end; i != end; ++i) {
      function->param_bytes.push_back(std::stoi((*i)[1].str()) / 8);
    }
    functions[function->symbol] = std::move(function);
    at = close;
  }
  return functions;
}

CUresult LoadModule(CUmodule* handle, const void* image, unsigned num_options, int* options, void** values) {
  State::Entry entry("cuModuleLoadDataEx");
  State& state = entry.state();
  if (entry.result() != kCudaSuccess) return entry.result();
  if (state.ForbiddenInCapture("cuModuleLoadDataEx")) return kCudaCaptureUnsupported;
  FakeContext* context = state.CurrentContext();
  if (context == nullptr) return kCudaInvalidContext;
  const std::string text = WithoutComments(static_cast<const char*>(image));
  auto fail = [&](CUresult result, const std::string& log) {
    for (unsigned i = 0; i < num_options; ++i) {
      if (options[i] != kCudaJitErrorLogBuffer) continue;
      for (unsigned j = 0; j < num_options; ++j) {
        if (options[j] != kCudaJitErrorLogBufferSize) continue;
        const size_t room = reinterpret_cast<uintptr_t>(values[j]);
        std::strncpy(static_cast<char*>(values[i]), log.c_str(), room - 1);
      }
    }
    return result;
  };
  const std::string major = FirstMatch(text, "\\.version\\s+(\\d+)"),
                    minor = FirstMatch(text, "\\.version\\s+\\d+\\.(\\d+)");
  const std::string target = FirstMatch(text, "\\.target\\s+sm_(\\d+)");
  if (major.empty() || minor.empty() || target.empty()) return fail(kCudaInvalidPtx, "no .version and .target");
  if (std::stoi(major) * 10 + std::stoi(minor) > state.options.ptx_version) {
    return fail(kCudaUnsupportedPtxVersion, "ptxas: the PTX version is not supported");
  }
  if (std::stoi(target) > state.options.compute_capability) {
    return fail(kCudaInvalidPtx, "ptxas: the target is higher than that of the GPU");
  }
  auto module = std::make_unique<FakeModule>();
  module->context = context;
  module->functions = Entries(text);
  for (auto& [name, function] : module->functions) function->context = context;
  *handle = reinterpret_cast<CUmodule>(module.get());
  state.modules[module.get()] = std::move(module);
  return kCudaSuccess;
}

CUresult GetFunction(CUfunction* function, CUmodule handle, const char* name) {
  State::Entry entry("cuModuleGetFunction", nullptr, name);
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeModule* module = entry.state().Find(entry.state().modules, handle, "cuModuleGetFunction");
  if (module == nullptr) return kCudaInvalidHandle;
  auto found = module->functions.find(name);
  if (found == module->functions.end()) return kCudaNotFound;
  *function = reinterpret_cast<CUfunction>(found->second.get());
  return kCudaSuccess;
}

// The parameters' values, kept until the kernel runs.
struct Params {
  std::vector<uint64_t> values;
  std::vector<void*> pointers() {
    std::vector<void*> all;
    for (uint64_t& v : values) all.push_back(&v);
    return all;
  }
};

void RunKernel(State& state, const std::string& symbol, uint32_t grid, uint32_t block, uint32_t shared, Params params) {
  std::vector<void*> pointers = params.pointers();
  auto kernel = state.kernels.find(symbol);
  if (kernel != state.kernels.end()) return kernel->second(grid, block, shared, pointers.data());
  if (state.fallback) {
    absl::Status status = state.fallback(symbol, grid, block, shared, pointers.data());
    if (!status.ok()) state.Violation(absl::StrCat("kernel ", symbol, ": ", status.ToString()));
    return;
  }
  state.Violation(absl::StrCat("kernel ", symbol, ": nothing computes it"));
}

CUresult Launch(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params, void**) {
  auto* function = reinterpret_cast<FakeFunction*>(handle);
  State::Entry entry("cuLaunchKernel", stream, function == nullptr ? "" : function->symbol);
  State& state = entry.state();
  std::vector<DeviceAccess> accesses = TakeDeclaredAccesses();
  if (entry.result() != kCudaSuccess) return entry.result();
  FakeStream* s = state.Stream(stream, "cuLaunchKernel");
  if (s == nullptr || function == nullptr) return kCudaInvalidHandle;
  if (function->context != s->context) {
    state.Violation(absl::StrCat(function->symbol, ": launched on a stream of another context"));
    return kCudaInvalidHandle;
  }
  const unsigned threads = block_x * block_y * block_z;
  if (grid_x == 0 || grid_x > 0x7fffffffu || grid_y != 1 || grid_z != 1 || threads == 0 || threads > 1024) {
    state.Violation(absl::StrCat(function->symbol, ": launched as ", grid_x, " blocks of ", threads, " threads"));
    return kCudaInvalidValue;
  }
  if (shared_bytes > function->max_shared) {
    state.Violation(absl::StrCat(function->symbol, ": ", shared_bytes, " bytes of shared memory need an attribute"));
    return kCudaInvalidValue;
  }
  Params copied;
  for (size_t i = 0; i < function->param_bytes.size(); ++i) {
    copied.values.push_back(0);
    std::memcpy(&copied.values.back(), params[i], function->param_bytes[i]);
  }
  const std::string symbol = function->symbol;
  return state.Add(*s, {symbol, std::move(accesses), [&state, symbol, grid_x, threads, shared_bytes, copied] {
                          RunKernel(state, symbol, grid_x, threads, shared_bytes, copied);
                        }});
}

}  // namespace

void BindFakeModules(DriverApi& api) {
  api.cuModuleLoadDataEx = LoadModule;
  api.cuModuleGetFunction = GetFunction;
  api.cuModuleUnload = [](CUmodule handle) {
    State::Entry entry("cuModuleUnload");
    if (entry.state().Find(entry.state().modules, handle, "cuModuleUnload") == nullptr) return kCudaInvalidHandle;
    entry.state().modules.erase(handle);
    return entry.result();
  };
  api.cuFuncSetAttribute = [](CUfunction handle, int attribute, int value) {
    State::Entry entry("cuFuncSetAttribute");
    if (entry.result() != kCudaSuccess) return entry.result();
    if (attribute != kCudaFunctionMaxDynamicShared || value < 0 || value > (227 << 10)) return kCudaInvalidValue;
    reinterpret_cast<FakeFunction*>(handle)->max_shared = static_cast<unsigned>(value);
    return kCudaSuccess;
  };
  api.cuLaunchKernel = Launch;
}

}  // namespace tandem
