"""Recurring jobs, their schedule, forecasts and statistics."""
