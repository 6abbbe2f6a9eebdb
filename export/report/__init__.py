"""The whole campaign on one HTML page that fetches nothing."""
