"""The clusters that answers are about."""
