"""The campaign home: its paths and lock, the declared facts, the dbt build, and what `seamline status` shows."""
