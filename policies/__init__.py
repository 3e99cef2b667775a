"""The CrossGuard pack: what `dra/` knows, asked of a Pulumi program. `--policy-pack policies` runs it."""
