"""What readers of several producers share: lines, JSON, times, framing. No producer is named here."""
