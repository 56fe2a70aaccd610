"""Transformers that learn numerical linear algebra from examples."""
