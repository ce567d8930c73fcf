"""Programs that do a job over and over, asked by `contest.py`; two more are examples of the Rust core."""
