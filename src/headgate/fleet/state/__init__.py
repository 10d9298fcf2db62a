"""What is so at this moment: units with their ties, who waits for what, who holds which slot."""
