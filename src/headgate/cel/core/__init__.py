"""What every evaluation computes with: values, what is done with them, what it costs, and what can go wrong."""
