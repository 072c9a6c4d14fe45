"""The Runs page, and the way from a run back to Configure and Launch."""
