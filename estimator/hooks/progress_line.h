// ProgressLine: the text of a training's progress line, for a terminal of any width.
#ifndef TANDEM_ESTIMATOR_HOOKS_PROGRESS_LINE_H_
#define TANDEM_ESTIMATOR_HOOKS_PROGRESS_LINE_H_

#include <cstdint>
#include <map>
#include <string>

namespace tandem {

struct Progress {
  int64_t step = 0;            // number of finished steps
  int64_t last_step = 0;       // step at which training ends; 0: not known
  double steps_per_epoch = 0;  // 0 if not known
  double loss = 0;
  std::map<std::string, double> metrics = {};
  double images_per_second = 0;
  double input_wait = 0;     // the fraction of the time that training waited for input, 0 to 1
  double seconds_left = -1;  // time until training ends; negative if not known
};

// Returns, for example, "epoch 2/5  step 1200/4690  loss 0.4312  accuracy 0.871  10873 examples/s  input wait 12 % ETA
// 3:20". Shows the epoch if its length is known, and the input wait if it is above 2 %; an unknown ETA is "-". If the
// line is wider than `columns`, leaves out the input wait, metrics from the last on, the epoch, the rate and the loss,
// in this order.
std::string ProgressLine(const Progress& progress, int columns);

// Returns, for example, "0:07", "3:20", "1:05:00" or "2 d 3 h".
std::string DurationText(double seconds);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_PROGRESS_LINE_H_
