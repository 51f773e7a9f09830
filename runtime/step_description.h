// How messages name a step of a program.
#ifndef TANDEM_RUNTIME_STEP_DESCRIPTION_H_
#define TANDEM_RUNTIME_STEP_DESCRIPTION_H_

#include <string>

#include "runtime/executable.h"

namespace tandem {

// "dense/MatMul [model.cc:7 (MatMul)] fused with Log [model.cc:8 (Log)], replica 1 (cpu:1)".
std::string DescribeStep(const Executable& executable, const fb::StepT& step, int replica);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_STEP_DESCRIPTION_H_
