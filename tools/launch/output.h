// Output: standard output and standard error of the launcher, for lines of many processes.
#ifndef TANDEM_TOOLS_LAUNCH_OUTPUT_H_
#define TANDEM_TOOLS_LAUNCH_OUTPUT_H_

#include <poll.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// Lines wait in memory until they can be written without waiting, so that the launcher can look after its processes
// when nobody reads what they print.
class Output {
 public:
  Output();

  // Lines to be written are appended to these. They are the same where both go to the same place: then lines stay whole
  // and in order.
  std::string* output() { return &output_.text; }
  std::string* error() { return same_ ? &output_.text : &error_.text; }

  // So much waits that the processes should.
  bool full() const;
  bool empty() const { return output_.text.empty() && error_.text.empty(); }
  // Why standard output takes nothing any more; null while it does. What waits then is dropped.
  int error_number() const { return output_.error_number; }

  // What poll is to wait for, appended.
  void AddTo(std::vector<pollfd>* polled) const;
  // Writes what can be written without waiting.
  void Write();
  // Drops what waits.
  void Drop();

 private:
  struct Stream {
    int fd;
    std::string text;
    int error_number = 0;

    void Write();
  };

  Stream output_, error_;
  bool same_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OUTPUT_H_
