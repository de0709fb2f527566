"""What every client here is asked to do, and how it tells what it saw: one JSON document on standard output.

`CLIENT MODE TOOL ARGUMENTS URL|COMMAND…`: how to negotiate, which tool to call well and with which JSON, and whom to ask.
The token comes in TOOLGATE_TOKEN, so that it stands in no list of processes.
"""

import json
import os
import sys

MODE, TOOL, GOOD, *TARGET = sys.argv[1:]
GOOD = json.loads(GOOD)
BAD = {"command": 7}
UNKNOWN = "no_such_tool"


def headers():
    """The credential, as every request over HTTP carries it."""
    return {"Authorization": "Bearer " + os.environ["TOOLGATE_TOKEN"]}


def over_http():
    """Whether the target is a URL, and not the command of a server on standard input and output."""
    return TARGET[0].startswith("http")


def tell(document):
    """Prints the document."""
    print(json.dumps(document))
