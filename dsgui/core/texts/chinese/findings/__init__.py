"""The texts of findings and rules, in Chinese."""
