"""The programs that the lab runs: found on this machine where they fit, built from pinned sources where not."""
