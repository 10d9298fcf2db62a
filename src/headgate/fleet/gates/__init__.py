"""Every gate of a target on the state of this moment: rules are asked here."""
