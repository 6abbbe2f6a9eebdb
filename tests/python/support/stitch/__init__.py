"""The judgement of curves in plain Python, written from its description alone: the oracle of the SQL, and campaigns."""
