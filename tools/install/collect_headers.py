#!/usr/bin/python3
"""collect_headers.py LISTING OUT [HEADER...]: copies the headers that tandem/tandem.h reaches, and these, into the folder
OUT.

LISTING has a line "FILE<tab>PLACE" for each header that there is, included as PLACE.
"""
import os
import re
import shutil
import sys

ENTRY = "tandem/tandem.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+"(tandem/[^"]+)"', re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    listing, out, *others = sys.argv[1:]
    headers = {place: file for file, place in (line.split("\t") for line in read(listing).split("\n"))}
    work = [ENTRY] + others
    reached = set(work)
    while work:
        place = work.pop()
        for header in INCLUDE.findall(read(headers[place])):
            if header not in headers:
                sys.exit("collect_headers.py: %s includes %s, which no library has" % (place, header))
            if header not in reached:
                reached.add(header)
                work.append(header)
    for place in reached:
        path = os.path.join(out, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(headers[place], path)


main()
