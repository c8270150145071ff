"""receipt_once.py: writes a receipt for an order. One process per job.

The document is on standard input. Exit status 0: done; 65: buried, trying again cannot help;
all else, an exception too: tried again. What is printed becomes the job's error.
"""
import json
import os
import sys

payload = json.load(sys.stdin).get("payload")
try:
    order = str(payload["order"])
    total = sum(item["price"] * item["count"] for item in payload["items"])
    if not order.isalnum():
        raise ValueError("an order is letters and digits")
except (KeyError, TypeError, ValueError) as error:
    print("bad payload: %r" % error)
    sys.exit(65)

# Another attempt at the same job writes the same file again: at least once, and no harm.
path = os.path.join(os.environ["FOLDER"], order + ".receipt")
with open(path + ".new", "w") as file:
    file.write("%s %d\n" % (order, total))
os.rename(path + ".new", path)
