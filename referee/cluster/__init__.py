"""A tournament on many hosts: Dask carries jobs there and records back, and who has the key believes none of them."""
