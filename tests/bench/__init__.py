"""Speed beside what one would use instead. `python -m tests.bench [name...]` runs all, or those named."""
