"""embed.py OUT page.html page.css page.js: a header with the text of each as a constant, kPageHtml and so on."""
import os
import sys

with open(sys.argv[1], "w") as out:
    out.write("// Generated from tools/dump/page.\n#ifndef TANDEM_TOOLS_DUMP_PAGE_FILES_H_\n"
              "#define TANDEM_TOOLS_DUMP_PAGE_FILES_H_\n\nnamespace tandem {\n\n")
    for path in sys.argv[2:]:
        base, extension = os.path.splitext(os.path.basename(path))
        with open(path) as f:
            out.write('inline constexpr char k%s%s[] = R"TANDEM(%s)TANDEM";\n\n'
                      % (base.capitalize(), extension[1:].capitalize(), f.read()))
    out.write("}  // namespace tandem\n\n#endif  // TANDEM_TOOLS_DUMP_PAGE_FILES_H_\n")
