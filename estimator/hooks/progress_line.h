// The text of a line that says how a training goes, for a terminal of any width.
#ifndef TANDEM_ESTIMATOR_HOOKS_PROGRESS_LINE_H_
#define TANDEM_ESTIMATOR_HOOKS_PROGRESS_LINE_H_

#include <cstdint>
#include <map>
#include <string>

namespace tandem {

struct Progress {
  int64_t step = 0;            // steps finished
  int64_t last_step = 0;       // where training ends; 0: not known
  double steps_per_epoch = 0;  // 0: not known
  double loss = 0;
  std::map<std::string, double> metrics = {};
  double images_per_second = 0;
  double input_wait = 0;     // the part of the time that training waited for input, 0 to 1
  double seconds_left = -1;  // negative: not known
};

// "epoch 2/5  step 1200/4690  loss 0.4312  accuracy 0.871  10873 examples/s  input wait 12 %  ETA 3:20". The epoch is
// there when its length is known, the input wait above 2 %; the ETA is "-" while it is not known. What is wider than
// `columns` loses the input wait, metrics from the last on, the epoch, the rate and the loss, in this order.
std::string ProgressLine(const Progress& progress, int columns);

// "0:07", "3:20", "1:05:00", "2 d 3 h".
std::string DurationText(double seconds);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_HOOKS_PROGRESS_LINE_H_
