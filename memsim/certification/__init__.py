"""The conformance kit of the HTTP contract: what `memsim certify` tries on a server."""
