"""Programs that serve libraries by the HTTP contract, each in an environment of its own.

memsim never imports them. It starts `server.py` with the Python of the library's environment, so
that they import nothing of memsim.
"""
