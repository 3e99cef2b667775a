"""Stand-ins for two Pulumi plugins that a closed network cannot have; `.lab/bin` has them only then."""
