"""What every client here is asked to do, and how it tells what it saw: one JSON document on standard output.

The token comes in TOOLGATE_TOKEN, so that it stands in no list of processes.
"""

import json
import os
import sys

TOOL = "ssh_run_whitelisted_command"
GOOD = {"command": "uptime"}
BAD = {"command": 7}
UNKNOWN = "no_such_tool"


def headers():
    """The credential, as every request over HTTP carries it."""
    return {"Authorization": "Bearer " + os.environ["TOOLGATE_TOKEN"]}


def target():
    """The URL, or the command of a server on standard input and output, from the arguments after the mode."""
    return sys.argv[2:]


def over_http(words):
    """Whether the target is a URL."""
    return words[0].startswith("http")


def tell(document):
    """Prints the document."""
    print(json.dumps(document))
