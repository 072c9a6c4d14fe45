"""Why a run is slow: the parts of a run's time that its readings and its log account for."""
