#include "base/user_code.h"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <typeinfo>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/out_of_memory.h"

namespace tandem {
namespace {

thread_local internal::ReportedErrors* innermost = nullptr;

// Returns the name of the exception's type: "std::out_of_range".
std::string TypeName() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    std::free);
  return name != nullptr ? name.get() : type->name();
}

}  // namespace

namespace internal {

ReportedErrors::ReportedErrors() : outer_(std::exchange(innermost, this)) {}
ReportedErrors::~ReportedErrors() { innermost = outer_; }

}  // namespace internal

void ReportUserError(absl::Status status) {
  if (innermost == nullptr) {
    TD_LOG(ERROR) << status.message();
  } else {
    innermost->first_.Update(status);
  }
}

absl::Status CaughtException() {
  try {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;  // a cancelled thread must continue to unwind
  } catch (const std::bad_alloc& e) {
    return OutOfMemoryError(absl::StrCat("ran out of memory (", e.what(), ")"));
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat("threw ", TypeName(), ": \"", e.what(), "\""));
  } catch (...) {
    return absl::InvalidArgumentError(absl::StrCat("threw ", TypeName(), ", which is no std::exception"));
  }
}

}  // namespace tandem
