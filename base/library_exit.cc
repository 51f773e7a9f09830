#include "base/library_exit.h"

#include <cstdlib>

#include "base/owned_process.h"
#include "base/resource_errors.h"

namespace tandem {
namespace {

thread_local const char* exit_means_out_of_memory = nullptr;

void WatchExit(const char* doing) {
  static const int registered = std::atexit([] {
    if (exit_means_out_of_memory != nullptr) ExitOutOfMemory(exit_means_out_of_memory);
  });
  // std::atexit fails only if it cannot allocate memory.
  if (registered != 0) ExitOutOfMemory(doing);
}

}  // namespace

ExitMeansOutOfMemory::ExitMeansOutOfMemory(const char* doing) : outer_(exit_means_out_of_memory) {
  if (OwnsProcess()) WatchExit(doing);
  exit_means_out_of_memory = doing;
}

ExitMeansOutOfMemory::~ExitMeansOutOfMemory() { exit_means_out_of_memory = outer_; }

}  // namespace tandem
