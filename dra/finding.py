"""What the checker says: a verdict for each object, and findings with a place, a sentence and a remedy."""

from collections.abc import Sequence
from enum import StrEnum

from dra.model import Model


class Verdict(StrEnum):
    """What becomes of an object, from bad to good."""

    UNREADABLE = "unreadable"
    """No YAML, or not an object."""
    REJECTED = "rejected"
    """The API server refuses it."""
    ERROR = "error"
    """Accepted, but the scheduler fails the pods that use it."""
    PENDING = "pending"
    """Accepted, and no node can satisfy it: its pods wait without an error."""
    ALLOCATED = "allocated"
    """The scheduler finds devices for it."""
    ACCEPTED = "accepted"
    """The API server takes it; nothing is asked of the scheduler."""


class Severity(StrEnum):
    """How bad a finding is: it will not work; it does other than it says; it works, and will be regretted."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


class Finding(Model):
    """One thing that is wrong, in one sentence. `path` is the field's path in the document."""

    code: str
    severity: Severity
    path: str
    message: str
    remedy: str
    line: int | None = None


class Checked(Model):
    """An object of a file with what the checker says of it. `line` is where its document starts."""

    file: str
    line: int
    api_version: str
    kind: str
    namespace: str
    name: str
    verdict: Verdict
    findings: Sequence[Finding] = ()
    devices: Sequence[str] = ()
    """A possible allocation, as `pool/device (request)`."""
