"""Tells whether two statements agree, contradict each other, or are about different things."""
