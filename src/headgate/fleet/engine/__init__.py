"""Changes in, decisions out, and what people ask about them."""
