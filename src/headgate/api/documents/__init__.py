"""What requests bring and what answers look like."""
