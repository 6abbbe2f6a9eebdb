"""Writes synthetic campaigns in the upstream formats, with a planted truth that tests compare against."""
