"""Readers of upstream formats. Each reader fills landing tables; `landing.land` alone writes. Nothing is decided here."""
