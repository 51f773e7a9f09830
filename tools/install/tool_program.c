/* The program of a tool, which is in libtandem.so. */
#include <stdio.h>

#include "tandem_c.h"

int main(int argc, char** argv) {
  int exit_code = 0;
  tandem_status* status =
      tandem_run_tool(TANDEM_TOOL, argc > 0 ? (size_t)argc - 1 : 0, (const char* const*)argv + 1, &exit_code);
  if (status == NULL) return exit_code;
  fprintf(stderr, "tandem-%s: %s\n", TANDEM_TOOL, tandem_status_message(status));
  return tandem_status_exit_code(status);
}
