// To be preloaded (LD_PRELOAD) into a program: lets the allocation fail that the environment names, counted from the
// start of main, and writes how many there were to the file that it names.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/allocation/failing_allocation.h"

namespace {

using Main = int (*)(int, char**, char**);

Main main_of_program = nullptr;

int CountingMain(int argc, char** argv, char** environment) {
  const char* n = std::getenv("TANDEM_FAILING_ALLOCATION");
  const char* sticky = std::getenv("TANDEM_FAILING_ALLOCATIONS_FROM_THERE");
  const char* path = std::getenv("TANDEM_COUNTED_ALLOCATIONS");
  // Programs that this one starts have all their memory.
  unsetenv("LD_PRELOAD");
  tandem::FailAllocation(n != nullptr ? std::atoll(n) : 0, sticky != nullptr && std::strcmp(sticky, "1") == 0);
  const int code = main_of_program(argc, argv, environment);
  const long long count = tandem::StopFailingAllocations();
  if (path != nullptr) {
    if (FILE* file = std::fopen(path, "w")) {
      std::fprintf(file, "%lld", count);
      std::fclose(file);
    }
  }
  return code;
}

}  // namespace

// The C library's, which calls main.
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                 void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  static const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  main_of_program = main;
  return start(CountingMain, argc, argv, init, fini, rtld_fini, stack_end);
}
