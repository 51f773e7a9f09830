#include "runtime/cpu/kernels/imported_functions.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <string>

#include "absl/strings/match.h"

namespace tandem {
namespace {

struct Function {
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

const Function kAllowed[] = {
    {"expf", Address<Float1>(expf)},
    {"exp2f", Address<Float1>(exp2f)},
    {"expm1f", Address<Float1>(expm1f)},
    {"logf", Address<Float1>(logf)},
    {"log2f", Address<Float1>(log2f)},
    {"log1pf", Address<Float1>(log1pf)},
    {"tanhf", Address<Float1>(tanhf)},
    {"erff", Address<Float1>(erff)},
    {"sinf", Address<Float1>(sinf)},
    {"cosf", Address<Float1>(cosf)},
    {"sqrtf", Address<Float1>(sqrtf)},
    {"floorf", Address<Float1>(floorf)},
    {"ceilf", Address<Float1>(ceilf)},
    {"roundf", Address<Float1>(roundf)},
    {"rintf", Address<Float1>(rintf)},
    {"truncf", Address<Float1>(truncf)},
    {"powf", Address<Float2>(powf)},
    {"fmodf", Address<Float2>(fmodf)},
    {"fmaxf", Address<Float2>(fmaxf)},
    {"fminf", Address<Float2>(fminf)},
    {"exp", Address<Double1>(exp)},
    {"exp2", Address<Double1>(exp2)},
    {"expm1", Address<Double1>(expm1)},
    {"log", Address<Double1>(log)},
    {"log2", Address<Double1>(log2)},
    {"log1p", Address<Double1>(log1p)},
    {"tanh", Address<Double1>(tanh)},
    {"erf", Address<Double1>(erf)},
    {"sin", Address<Double1>(sin)},
    {"cos", Address<Double1>(cos)},
    {"sqrt", Address<Double1>(sqrt)},
    {"floor", Address<Double1>(floor)},
    {"ceil", Address<Double1>(ceil)},
    {"round", Address<Double1>(round)},
    {"rint", Address<Double1>(rint)},
    {"trunc", Address<Double1>(trunc)},
    {"pow", Address<Double2>(pow)},
    {"fmod", Address<Double2>(fmod)},
    {"fmax", Address<Double2>(fmax)},
    {"fmin", Address<Double2>(fmin)},
    {"memcpy", Address(memcpy)},
    {"memset", Address(memset)},
    {"memmove", Address(memmove)},
    // GCC's thread sanitizer intercepts the C library's functions, and lacks these, which other compilers call.
    {"__tsan_memcpy", Address(memcpy)},
    {"__tsan_memset", Address(memset)},
    {"__tsan_memmove", Address(memmove)},
};

}  // namespace

void* FindImportedFunction(absl::string_view name) {
  for (const Function& f : kAllowed) {
    if (name == f.name) return f.address;
  }
  return SanitizerOfFunction(name).empty() ? nullptr : dlsym(RTLD_DEFAULT, std::string(name).c_str());
}

absl::string_view SanitizerOfFunction(absl::string_view name) {
  if (absl::StartsWith(name, "__asan_")) return "asan";
  if (absl::StartsWith(name, "__tsan_")) return "tsan";
  return "";
}

}  // namespace tandem
