"""Programs that measure, never asserting a time: `python -m tests.benchmarks NAME`. Ratios against a floor of the same run."""
