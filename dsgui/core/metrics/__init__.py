"""Points, curves and samples: stored, thinned, exported."""
