"""A campaign's home: its paths and lock, the declared facts, the schema, and landing, the only writer of Parquet."""
