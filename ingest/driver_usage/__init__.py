"""Session logs of the agents that drove a sweep: the tokens they used over time."""
