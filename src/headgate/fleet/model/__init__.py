"""What the fleet is told: objects, changes and records, what a reader may see of them, and how jobs are configured."""
