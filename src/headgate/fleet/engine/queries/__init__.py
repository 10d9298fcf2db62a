"""What can be asked of an engine, by subject: names, values and records in, values and records out.

Whoever serves people asks here and never reads the state, so that how the state is kept is a matter of the engine alone.
"""
