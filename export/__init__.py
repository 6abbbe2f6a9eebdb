"""Turns marts into files for the Hub: CSV, Parquet, cards, plots, checksums. Computes no number a mart does not hold."""
