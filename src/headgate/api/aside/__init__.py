"""Requests that may take long are answered in processes of their own, so that nobody waits for a stranger's question.

Threads would not do: they share one interpreter with the event loop and the engine. Each of these processes follows the
log like any server, so that nothing but the question and its answer is handed over.
"""
