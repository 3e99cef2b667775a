"""The programs that the lab runs: found on this machine if they fit, else built from pinned sources."""
