"""Where memories live: one contract, two engines that keep it. Nothing outside knows of SQL."""
