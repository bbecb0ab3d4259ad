"""Runs the tests that LangGraph publishes for its own stores against ours."""
