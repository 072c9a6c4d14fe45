"""What dsgui does where a run trains: a module a place."""
