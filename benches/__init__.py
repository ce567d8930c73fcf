"""The benchmarks: `python -m benches report` measures all of it and writes RESULTS.md; `pytest benches` asserts it.

stores.py          what is read; with replio_stores.py, streams.py
contestants/       who reads it: one program each, which times itself
contest.py         contestants started, asked in turn, watched
answers.py         what they answer, compared
jobs.py            which contestants do which job
musts.py           what their figures must be
bench_*.py         jobs done, and whether the musts are met
report.py, machine.py  ->  results.py, plot.py      all jobs in one run, and where; the page, the drawing
"""
