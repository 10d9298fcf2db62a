"""The running service, attacked through HTTP."""
