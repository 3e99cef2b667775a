"""What the API server says of an object, without one.

It is the API server's order of things: decode strictly, fill in defaults, drop what the target's feature
gates do not have, and hold the rest to the rules. Each problem has the server's words and says what to do.
"""

from dra.validation.admission import Admission, admit
from dra.validation.problem import Dropped, Problem

__all__ = ["Admission", "Dropped", "Problem", "admit"]
