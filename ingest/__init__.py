"""Readers of upstream formats. Each reader fills landing tables; `land` alone writes. Nothing is decided here."""
