"""Checkpoints: sweeps on disk, bare folders, published manifests, the Hub."""
