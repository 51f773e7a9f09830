// What a fuzz target is: one function over bytes that returns, whatever they are. The driver of this folder runs it,
// and so does libFuzzer (docs/developers/testing.md).
#ifndef TANDEM_TESTS_FUZZ_FUZZ_TARGET_H_
#define TANDEM_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Returns 0. Crashes, hangs and reports of a sanitizer are findings.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tandem::fuzz {

// Well-formed inputs that the target makes itself, beside the files of its corpus.
std::vector<std::string> Seeds();

// Called by a target that took its input: the driver goes on from such inputs, where libFuzzer looks at coverage.
void NoteAccepted();

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_FUZZ_TARGET_H_
