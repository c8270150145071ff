"""receipt.py: writes a receipt for an order. Long-lived: a line in, a line out for each job.

In, on standard input:
    {"id":"…","type":"exec.receipt_python","queue":"default","attempt":1,"document":{…},…}
Out, on descriptor 3:
    {"id":"…","result":"done"}, or "retry", "bury" or "return" with "error" and "in" seconds.

Whatever it prints is logged. It ends when its input does; one that dies is started again, and only
the job it had is tried again.
"""
import json
import os
import sys


class Bad(Exception):
    """Trying again cannot help."""


def write_receipt(payload):
    try:
        order = str(payload["order"])
        total = sum(item["price"] * item["count"] for item in payload["items"])
    except (KeyError, TypeError) as error:
        raise Bad("bad payload: %r" % error)
    if not order.isalnum():
        raise Bad("an order is letters and digits")
    # Another attempt at the same job writes the same file again: at least once, and no harm.
    path = os.path.join(os.environ["FOLDER"], order + ".receipt")
    with open(path + ".new", "w") as file:
        file.write("%s %d\n" % (order, total))
    os.rename(path + ".new", path)


def perform(job):
    try:
        write_receipt(job["document"].get("payload"))
    except Bad as error:
        return {"result": "bury", "error": str(error)}
    except OSError as error:
        return {"result": "retry", "error": str(error), "in": 60}
    return {"result": "done"}


with open(3, "w", buffering=1) as answers:  # a line at a time
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps({"id": job["id"], **perform(job)}), file=answers)
