"""Books that promises keep on their own, so that none of them takes the word of what it checks."""
