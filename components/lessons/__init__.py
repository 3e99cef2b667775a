"""Lessons: a namespace, its objects, and what they should come to."""
