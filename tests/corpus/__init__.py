"""Statements of every form that the documentation of six systems shows, in our own words."""
