"""CEL as the selectors of resource.k8s.io use it, in the environment of the API server and the scheduler."""

from dra.cel.errors import CompileError, EvaluationError
from dra.cel.selector import Selector, compile_selector

__all__ = ["CompileError", "EvaluationError", "Selector", "compile_selector"]
