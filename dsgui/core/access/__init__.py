"""Who is let in, and what must not be seen: requests, secrets in texts, escape sequences."""
