"""Logs of every shape that other people's campaigns have, with what must become of each row stated beside it."""
