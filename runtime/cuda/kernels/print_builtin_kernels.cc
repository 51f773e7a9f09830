// Prints the PTX of the built-in kernels, for tests.
#include <cstdio>

#include "runtime/cuda/kernels/builtin_kernels.h"

int main() { return std::fputs(tandem::BuiltinKernelsPtx().c_str(), stdout) < 0; }
