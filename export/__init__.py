"""Turns marts into files for the Hub: CSV, cards, plots, checksums. Computes no number a mart does not hold."""
