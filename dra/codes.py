"""The findings' codes. A code never changes its meaning; its page is docs/findings/<code>.md.

DRA0xx: the input cannot be read. DRA1xx: the API server refuses. DRA2xx: the scheduler fails the pod.
DRA3xx: the claim stays pending. DRA4xx: it works, and will be regretted.
"""

from dra.finding import Severity
from dra.model import Model


class Code(Model):
    """A kind of finding."""

    code: str
    severity: Severity
    title: str


def _code(code: str, severity: Severity, title: str) -> Code:
    return Code(code=code, severity=severity, title=title)


UNREADABLE = _code("DRA001", Severity.ERROR, "The file cannot be read as YAML objects")
DUPLICATE_KEY = _code("DRA002", Severity.ERROR, "A key that is given twice")

UNKNOWN_FIELD = _code("DRA101", Severity.ERROR, "A field that the API does not have")
OLD_SHAPE = _code("DRA102", Severity.ERROR, "The shape of an older API version")
WRONG_TYPE = _code("DRA103", Severity.ERROR, "A value of the wrong type")
REQUIRED = _code("DRA104", Severity.ERROR, "A required field is missing")
INVALID_VALUE = _code("DRA105", Severity.ERROR, "A value that the API server refuses")
CEL_COMPILE = _code("DRA106", Severity.ERROR, "A selector that does not compile")
NOT_SERVED = _code("DRA107", Severity.ERROR, "An API version that the target does not serve")
ADMIN_NAMESPACE = _code("DRA108", Severity.ERROR, "Admin access in a namespace without the label for it")
TOO_MANY = _code("DRA109", Severity.ERROR, "More of something than the API allows")
DUPLICATE = _code("DRA110", Severity.ERROR, "Two of what there may be one of")
NAME = _code("DRA111", Severity.ERROR, "A name that is not spelt as the API wants it")
REFERENCE = _code("DRA112", Severity.ERROR, "A name of something that the object does not have")
ONE_OF = _code("DRA113", Severity.ERROR, "None, or several, of what exactly one of is needed")

CEL_RUNTIME = _code("DRA201", Severity.ERROR, "A selector that fails on a device, and with it the pod")
CLASS_MISSING = _code("DRA202", Severity.ERROR, "A DeviceClass that does not exist")
CLAIM_LIMIT = _code("DRA203", Severity.ERROR, "More devices than one claim may have")

UNSATISFIED = _code("DRA301", Severity.ERROR, "No node can satisfy the claim")
