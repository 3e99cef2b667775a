"""Serves the pack to the engine: the constructor does not return. All else is in the modules beside it."""

import sys
from pathlib import Path

from pulumi_policy import EnforcementLevel, PolicyPack

# Pulumi starts a pack in its own folder, and the checker is in the one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.pack import NAME, make_policies

PolicyPack(NAME, make_policies(), enforcement_level=EnforcementLevel.MANDATORY)
