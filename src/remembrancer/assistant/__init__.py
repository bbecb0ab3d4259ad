"""The built-in assistant: recalls, answers and learns, the same on every surface."""
