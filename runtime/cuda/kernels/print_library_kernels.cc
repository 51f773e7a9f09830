// Prints the PTX of the library kernels, for tests.
#include <cstdio>

#include "runtime/cuda/kernels/library_kernels.h"

int main() { return std::fputs(tandem::LibraryKernelsPtx().c_str(), stdout) < 0; }
