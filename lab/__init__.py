"""The lab's configuration, what it observes, and its command line."""
