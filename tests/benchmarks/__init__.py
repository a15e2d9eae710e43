"""Programs that measure times and never assert one: `python -m tests.benchmarks NAME`. Each also measures a floor."""
