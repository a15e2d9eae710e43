"""A tournament on many hosts: Dask carries jobs to them and records back. Each record is checked before it counts."""
