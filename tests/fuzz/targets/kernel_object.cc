// An object with kernels, in an executable with right checksums. Kernels are loaded and not run: code may do anything.
#include "base/exit_code.h"
#include "runtime/cpu/kernels/elf_object.h"
#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/small_object.h"
#include "runtime/testing/small_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

// Returns an executable whose kernels are the object's functions, or one of a name that it may not have.
absl::StatusOr<std::shared_ptr<const Executable>> WithKernels(const std::string& object) {
  constexpr size_t kMaxKernels = 8;
  std::vector<std::string> symbols;
  if (const absl::StatusOr<ElfObject> parsed = ParseElfObject(object); parsed.ok()) {
    for (const auto& [name, place] : parsed->functions) {
      if (!name.empty() && symbols.size() < kMaxKernels) symbols.emplace_back(name);
    }
  }
  if (symbols.empty()) symbols.emplace_back("kernel");
  ExecutableBuilder b(1, 1, 1, 1);
  for (const std::string& symbol : symbols) b.Kernel(symbol, 0, format::Domain::kElements);
  return Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "code", object}}));
}

}  // namespace

// The corpus has objects of models beside these.
std::vector<std::string> Seeds() {
  const std::string calls = R"(
@numbers = internal constant [8 x float] [float 1.0, float 2.0, float 3.0, float 4.0,
                                          float 5.0, float 6.0, float 7.0, float 8.0]
@counter = internal global i64 5
declare float @expf(float)
declare double @pow(double, double)
define void @kernel(ptr %args, i64 %begin, i64 %end, i64 %row_offset) {
  %p = load ptr, ptr %args
  %c = load i64, ptr @counter
  %a = getelementptr float, ptr @numbers, i64 %begin
  %x = load float, ptr %a
  %y = call float @expf(float %x)
  %d = fpext float %y to double
  %z = call double @pow(double %d, double 2.5)
  store double %z, ptr %p
  %n = add i64 %c, 1
  store i64 %n, ptr @counter
  ret void
})";
  return {SmallObject(), SmallKernels(), CompileIr(calls)};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  const std::string object(reinterpret_cast<const char*>(data), size);
  const auto executable = tandem::fuzz::WithKernels(object);
  Require(executable.ok(), "the executable around the object is right");
  const auto kernels = tandem::LoadedKernels::Load(**executable);
  if (kernels.ok()) {
    tandem::fuzz::NoteAccepted();
    Require((*kernels)->function(0) != nullptr, "a kernel that was loaded has an address");
  } else if (kernels.status().code() == absl::StatusCode::kDataLoss) {
    Require(tandem::ExitCodeFor(kernels.status()) == tandem::kExitBadData, "a refusal has its exit code");
  } else {
    // Too large for memory, or a call of a sanitizer that is not here.
    Require(absl::IsResourceExhausted(kernels.status()) || absl::IsFailedPrecondition(kernels.status()),
            "an object that is refused is damaged, too large or for another program");
  }
  return 0;
}
