"""Learn: the drawer of tutorials beside the pages."""
