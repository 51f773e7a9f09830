// Tables that were measured: plans for GPUs (TANDEM_GPU_PLANS), and times of all-reduces for tandem-scale.
#include <cmath>

#include "runtime/cuda/libraries/plan_choices.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"
#include "tools/scale/measured_times.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  PlanChoices choices;
  choices.Record("conv2d x=[256,56,56,64] | NVIDIA H200 | cuDNN 9.19.0", "eng62_k2=4");
  return {choices.ToJson(),
          "# times\n\nbytes,processes,communication,seconds\n4096,2,tcp,0.0000612\n65536,2,tcp,1e-4\n"
          "4096,4,tcp,7.5e-05\n",
          "bytes,processes,communication,seconds\n1,2,shared_memory,1e-6\n1,2,shared_memory,2e-6\n"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto choices = tandem::PlanChoices::FromJson(text);
  if (choices.ok()) {
    const std::string written = choices->ToJson();
    const auto again = tandem::PlanChoices::FromJson(written);
    Require(again.ok() && again->ToJson() == written, "plans are read again");
  }
  const auto times = tandem::MeasuredTimes::Parse(text, "times.csv", "");
  if (times.ok()) {
    for (int processes : times->processes()) {
      for (double bytes : {0.0, 1.0, 4096.0, 5000.0, 1e12}) {
        Require(times->Seconds(bytes, processes) >= 0, "a time is a number and not below 0");
      }
    }
  }
  if (choices.ok() || times.ok()) tandem::fuzz::NoteAccepted();
  return 0;
}
