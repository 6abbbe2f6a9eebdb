"""verl: the metrics files of its FileLogger."""
