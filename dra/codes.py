"""The findings' codes. A code never changes its meaning; its page is docs/findings/<code>.md.

DRA0xx: the input cannot be read. DRA1xx: the API server refuses. DRA2xx: the scheduler fails the pod.
DRA3xx: the claim stays pending. DRA4xx: it works, and will be regretted.
"""

from dra.finding import Finding, Severity
from dra.model import Model


class Code(Model):
    """A kind of finding."""

    code: str
    severity: Severity
    title: str

    def at(self, path: str, message: str, remedy: str, line: int | None = None) -> Finding:
        """Return a finding of this kind at a field's path."""
        return Finding(
            code=self.code, severity=self.severity, path=path, message=message, remedy=remedy, line=line
        )


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
SCHEDULER_ERROR = _code("DRA204", Severity.ERROR, "Something else that fails the pod in the scheduler")

UNSATISFIED = _code("DRA301", Severity.ERROR, "No node can satisfy the claim")
NODE_NAMED = _code("DRA302", Severity.ERROR, "A pod with a claim that names its node")

MATCH_AND_DISTINCT = _code(
    "DRA401", Severity.WARNING, "A constraint that asks for match and distinct at once"
)
UNGUARDED_KEY = _code("DRA402", Severity.ADVICE, "A selector that reads a key without a guard")
UNGUARDED_CLASS = _code("DRA403", Severity.ADVICE, "A DeviceClass that does not name its driver first")
STRICT_AT_SIZE = _code("DRA404", Severity.WARNING, "A strict comparison at a device's exact size")
CAPACITY_NAME = _code("DRA405", Severity.WARNING, "A capacity spelled otherwise than in the slices")
DROPPED_FIELD = _code("DRA406", Severity.WARNING, "A field that the target drops without a word")
SHARED_CLAIM = _code("DRA407", Severity.WARNING, "One claim for all replicas")
BOTH_MECHANISMS = _code("DRA408", Severity.WARNING, "GPUs that are counted and claimed on one node")
SAME_EXTENDED_RESOURCE = _code("DRA409", Severity.WARNING, "Two classes with one extended resource name")
SPELLING = _code("DRA410", Severity.WARNING, "A product name that no driver spells so")
COUNTED_BESIDE_CLAIM = _code("DRA411", Severity.WARNING, "A counted GPU beside a claimed one")
TWO_SLASHES = _code("DRA412", Severity.WARNING, "An attribute name with two slashes")
MANY_TOLERATIONS = _code("DRA413", Severity.ADVICE, "More tolerations than documented")
DUPLICATE_DEVICE = _code("DRA414", Severity.WARNING, "Two devices of one name in a pool")
INCOMPLETE_POOL = _code("DRA415", Severity.WARNING, "A pool with another number of slices than it says")
NO_REQUESTS = _code("DRA416", Severity.ADVICE, "A claim that asks for nothing")
OTHER_NAMESPACE = _code("DRA417", Severity.WARNING, "A claim that is in another namespace than its pod")
UNUSED_CLAIM = _code("DRA418", Severity.WARNING, "A pod's claim that none of its containers uses")
UNKNOWN_REQUEST = _code(
    "DRA419", Severity.WARNING, "A container's use of a request that its claim does not have"
)
DRIVER_GATE = _code(
    "DRA420", Severity.ADVICE, "A configuration that the driver takes only behind a gate of its own"
)


def catalogue() -> list[Code]:
    """Return all codes, in order."""
    return sorted((each for each in globals().values() if isinstance(each, Code)), key=lambda each: each.code)
