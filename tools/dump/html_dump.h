// An executable as one self-contained web page.
#ifndef TANDEM_TOOLS_DUMP_HTML_DUMP_H_
#define TANDEM_TOOLS_DUMP_HTML_DUMP_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// `dump` is what DumpJson returned, `costs` what CostsJson did. The page needs no network; its script sets
// data-ready="1" on the root element when all is drawn, data-errors to the number of errors of the script.
std::string DumpHtml(const Executable& executable, const nlohmann::ordered_json& dump,
                     const nlohmann::ordered_json& costs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_HTML_DUMP_H_
