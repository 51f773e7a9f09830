// The descriptors 0, 1 and 2. Where a program was started without one of them (`program >&-`), the next file that is
// opened gets its number, and with it all that is printed.
#ifndef TANDEM_BASE_STANDARD_DESCRIPTORS_H_
#define TANDEM_BASE_STANDARD_DESCRIPTORS_H_

namespace tandem {

// Opens /dev/null in the place of each one that is missing, for files that libraries open. Thread-safe.
void OpenStandardDescriptors();

// `fd`, or a copy that is none of the three, in whose place it is closed; closes on exec. -1 with errno when `fd` is,
// and where there can be no more descriptors.
int AboveStandardDescriptors(int fd);

}  // namespace tandem

#endif  // TANDEM_BASE_STANDARD_DESCRIPTORS_H_
