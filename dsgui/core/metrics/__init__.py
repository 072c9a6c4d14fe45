"""Points, curves and samples: kept, thinned, exported."""
