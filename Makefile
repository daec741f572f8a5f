# Needs make and python3 >= 3.11, nothing else. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench lock clean help
.DEFAULT_GOAL := help
