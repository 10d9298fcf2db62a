"""Who runs jobs and measures their outcome: exec, http, pull, github, argocd, and verification providers."""
