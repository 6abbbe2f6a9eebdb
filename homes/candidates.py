"""What of a candidate is landed and exported only where it is asked for."""

TOKEN_ARRAYS = ("response_logprobs", "response_token_ids", "prompt_ids", "response_ids", "input_ids")
"""Numeric arrays, one number a token. Not landed unless asked for; their presence is in observed_fields."""
