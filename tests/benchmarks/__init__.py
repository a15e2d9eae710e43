"""Programs that measure and never assert a time: `python -m tests.benchmarks NAME`. A floor is measured alongside."""
