"""Programs that measure and never assert a time: `python -m tests.benchmarks NAME`. Each measures a floor as well."""
