# Needs make and python3 (3.11 or newer); `make test-slow` and `make test-all` also Chromium, which
# they install where apt-get does it without asking. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
LIVE := .venv-live
DOCS := .venv-docs
# Libraries under test, each in .venv-NAME, because their requirements conflict.
LIBRARIES := adk autogen langgraph langmem llamaindex mem0 openai-agents
# MCP servers under test, of PyPI and of npm, each in .venv-NAME as well.
PYPI_SERVERS := basic-memory mcp-memory-service
NPM_SERVERS := mcp-knowledge-graph mcp-memory-libsql server-memory
UNDER_TEST := $(LIBRARIES) $(PYPI_SERVERS) $(NPM_SERVERS)

# Published datasets live outside the repository; set MEMSIM_DATA to the folder that holds them.
MEMSIM_DATA ?= $(wildcard ../shared/data)
LOCOMO = $(MEMSIM_DATA)/locomo

# Processes for the tests, and anything more to say to pytest: make test PYTEST_FLAGS="-k recall".
TEST_JOBS ?= 2
PYTEST_FLAGS ?=

# Whoever is not root installs Chromium by sudo, if it needs no password.
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)

UV ?= uv
LOCK := UV_CUSTOM_COMPILE_COMMAND="make lock" $(UV) pip compile --quiet --universal \
	--python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links
# Pins stay as they are unless told to move: make lock LOCK_FLAGS=--upgrade.
LOCK_FLAGS ?=

# What compiles llama.cpp, out of its lock; and commit to what the model says this time:
# make test-live LIVE_FLAGS=--save-recordings.
BUILDING := cmake|ninja|packaging|pathspec|scikit-build-core
LIVE_FLAGS ?=

# What `make demo` leaves out: scripts made for one published design each; `memsim run` plays all.
SPECIAL := architecture_plan or chinese_cues or debugging_session or large_results or shared_lab \
	or skill_injection

# Another page from the numbers that are there: make comparison COMPARISON_FLAGS=--again.
COMPARISON_FLAGS ?=

# What .ci/run holds to reports/baselines/main.json: quick to replay, and of every kind of memory.
GATED := support_desk changing_preferences team_standup tool_heavy
HELD := sliding_window rolling_summary bm25
# The controls that every run adds are never judged: naming the others by -k leaves them out.
GATE = $(BIN)/memsim run $(GATED) $(addprefix -s ,$(HELD)) \
	-k '$(firstword $(HELD))$(foreach s,$(wordlist 2,9,$(HELD)), or $(s))' --progress none

.PHONY: demo test test-slow test-all test-live test-libraries library browser lint gate baseline comparison bench docs peers \
	peers-comparison lock \
	clean help
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

demo: $(VENV)/.run  ## replay the built-in scenarios (and LoCoMo where it is found) and compare
	$(BIN)/memsim run -k 'not ($(SPECIAL))'
	@if [ -n "$(MEMSIM_DATA)" ] && [ -d "$(LOCOMO)" ]; then \
		echo "$(BIN)/memsim run locomo --data $(LOCOMO)"; \
		$(BIN)/memsim run locomo --data "$(LOCOMO)"; \
	else \
		echo "LoCoMo not found, left out: get locomo10.json from github.com/snap-research/locomo," \
			"then: $(BIN)/memsim run locomo --data PATH/TO/locomo10.json"; \
	fi

# tests/tiers.py names the slow tests. Compiled files are kept: workers and the processes that tests
# start would otherwise compile everything again.
test test-slow test-all: export PYTHONDONTWRITEBYTECODE :=
PYTEST = $(BIN)/python -m pytest -n $(TEST_JOBS) --dist loadgroup
# Only a slow test needs schemathesis, which takes a second to import in each worker.
test: PYTEST += -p no:schemathesis

test: $(VENV)/.dev  ## run the tests, but for the slow ones
	$(PYTEST) -m "not slow" $(PYTEST_FLAGS)

test-slow: $(VENV)/.dev browser  ## run the slow tests: servers, kills, browser, wheel, processes
	$(PYTEST) -m slow $(PYTEST_FLAGS)

test-all: $(VENV)/.dev browser test-libraries  ## run all tests
	$(PYTEST) $(PYTEST_FLAGS)

# Needs a C++ compiler besides; some minutes the first time, and about one from then on.
test-live: $(LIVE)/.ready  ## let a small real model on this machine do every task, and replay it
	$(LIVE)/bin/python -m pytest -p no:cacheprovider tests/live/live_model.py \
		tests/live/test_recorded.py $(LIVE_FLAGS)

# The adapters of libraries, against the libraries themselves; none is skipped.
test-libraries: $(VENV)/.dev $(UNDER_TEST:%=.venv-%/.ready)  ## play scenarios against real libraries
	$(BIN)/python -m pytest -p no:cacheprovider tests/adapters/real_libraries.py \
		tests/adapters/real_mcp_servers.py

# Real memories on scenarios, slices of leakage and LoCoMo where it is found; the date is told, and no clock is read.
peers-comparison: $(VENV)/.dev $(UNDER_TEST:%=.venv-%/.ready)  ## measure docs/real-memories.md anew: DATE=2026-11-23
	@[ -n "$(DATE)" ] || { echo "which day? make peers-comparison DATE=2026-11-23" >&2; exit 1; }
	$(BIN)/python -m benchmarks.real_memories --date $(DATE) \
		$(if $(wildcard $(LOCOMO)),--data $(LOCOMO)) $(COMPARISON_FLAGS)

library: $(NAME:%=.venv-%/.ready)  ## set up a library under test: make library NAME=mem0
	@[ -n "$(NAME)" ] || { echo "which? make library NAME=... ($(UNDER_TEST))" >&2; exit 1; }

# The HTML report is tested in a real browser.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		command -v google-chrome >/dev/null || { echo "Setting up Chromium, once" && \
		{ $(AS_ROOT) apt-get update -qq || true; } && $(AS_ROOT) env \
			DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		{ echo "the tests need Chromium (Debian: apt-get install chromium)" >&2; exit 1; }

lint: $(VENV)/.dev  ## ruff check, ruff format --check, mypy --strict
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

gate: $(VENV)/.run  ## has a strategy become worse than in reports/baselines/main.json?
	$(GATE) --baseline main --strict --require-baseline

baseline: $(VENV)/.run  ## make the present strategies that baseline; needs a clean tree, then commit it
	$(GATE) --baseline none --no-resume
	$(BIN)/memsim baseline save --name main --aa 3

comparison: $(VENV)/.run  ## make reports/comparison anew, which a test holds to the present sources
	$(BIN)/python benchmarks/comparison.py --write $(COMPARISON_FLAGS)

bench: $(VENV)/.dev  ## measure speed, scale and LoCoMo recall
	$(BIN)/python -m benchmarks

docs: $(DOCS)/.ready  ## build the documentation as a site in build/site, and check its links
	PATH="$(CURDIR)/$(DOCS)/bin:$$PATH" NO_MKDOCS_2_WARNING=1 mkdocs build
	@echo "build/site/index.html"

peers: $(PEERS)/.ready  ## set up .venv-peers, where other tools are measured beside memsim

lock:  ## write requirements/*.lock anew from pyproject.toml; needs uv
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	$(LOCK) $(LOCK_FLAGS) pyproject.toml --group editable -o requirements/run.lock
	$(LOCK) $(LOCK_FLAGS) pyproject.toml --extra minilm --extra postgres --extra ray --extra redis --extra service \
		--group editable --group dev --constraint requirements/run.lock -o requirements/dev.lock
	$(LOCK) $(LOCK_FLAGS) pyproject.toml --group editable --extra peers -o requirements/peers.lock
	$(LOCK) $(LOCK_FLAGS) pyproject.toml --group editable --extra check --group live \
		--constraint requirements/run.lock -o requirements/live.lock
	$(LOCK) $(LOCK_FLAGS) --group docs \
		--constraint requirements/dev.lock -o requirements/docs.lock
	$(foreach name,$(LIBRARIES),$(LOCK) $(LOCK_FLAGS) --group library-$(name) \
		-o requirements/libraries/$(name).lock &&) true
	$(foreach name,$(PYPI_SERVERS),$(subst 3.11,3.12,$(LOCK)) $(LOCK_FLAGS) --group mcp-$(name) \
		-o requirements/mcp/$(name).lock &&) true
	$(foreach name,$(NPM_SERVERS),npm install --package-lock-only --silent \
		--prefix requirements/mcp/$(name) &&) true

clean:  ## remove the environments, build products and caches; runs and reports stay
	rm -rf $(VENV) $(PEERS) $(LIVE) $(DOCS) $(UNDER_TEST:%=.venv-%) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name what; do printf '%-16s %s\n' "$$name" "$$what"; done

# Stamps: what is installed is out of date when the file it was installed from is newer.
# -qq: a machine's own pip settings may warn once per package; errors are still shown.
INSTALL = $(@D)/bin/python -m pip -qq --disable-pip-version-check install --no-compile
install_lock = @requirements/install $< $(@D)
# On all cores, where pip would compile on one. Some packages hold files of other Pythons. More than
# half of it all is never imported: tests of packages, servers, what is compiled to machine code.
UNUSED := tests|kubernetes|litellm/proxy|mypyc?|lexers|onnxruntime|setuptools|botocore|graphql|pip|fontTools|huggingface_hub|boto3|s3transfer|fsspec|websockets|werkzeug|oauthlib
COMPILE = @$(@D)/bin/python -m compileall -q -j 0 -x '/($(UNUSED))/' $(@D)/lib \
	>/dev/null 2>&1 || true

define new_environment
	@command -v $(PYTHON) >/dev/null || \
		{ echo "memsim needs python3, 3.11 or newer: none found (make PYTHON=...)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "memsim needs python3, 3.11 or newer: $(PYTHON) is" \
			"$$($(PYTHON) --version 2>&1) (make PYTHON=python3.12)" >&2; exit 1; }
	@echo "Setting up $(@D) from $<: about a minute, once"
	@$(PYTHON) -m venv $(@D) || \
		{ echo "$(PYTHON) cannot make an environment (Debian: apt-get install python3-venv)" >&2; exit 1; }
endef

$(VENV)/.run: requirements/run.lock pyproject.toml
	$(new_environment)
	$(install_lock)
	$(INSTALL) --no-deps --no-build-isolation -e .
	$(COMPILE)
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	$(install_lock)
	$(COMPILE)
	@touch $@

$(DOCS)/.ready: requirements/docs.lock
	$(new_environment)
	$(INSTALL) --require-hashes -r $<
	$(COMPILE)
	@touch $@

$(PEERS)/.ready: requirements/peers.lock pyproject.toml
	$(new_environment)
	$(INSTALL) --require-hashes -r $<
	$(INSTALL) --no-deps --no-build-isolation -e .
	$(COMPILE)
	@touch $@

$(LIVE)/.ready: requirements/live.lock pyproject.toml
	@command -v c++ >/dev/null || \
		{ echo "make test-live needs a C++ compiler (Debian: apt-get install g++)" >&2; exit 1; }
	$(new_environment)
	@sed -nE '/^($(BUILDING))==/,/[^\]$$/p' $< >$(@D)/building.lock
	$(INSTALL) --require-hashes -r $(@D)/building.lock
	@echo "Compiling llama.cpp: some minutes, once"
	$(INSTALL) --require-hashes --no-build-isolation -r $<
	$(INSTALL) --no-deps --no-build-isolation -e .
	$(COMPILE)
	@touch $@

$(LIBRARIES:%=.venv-%/.ready): .venv-%/.ready: requirements/libraries/%.lock
	$(new_environment)
	$(install_lock)
	@touch $@

# Servers start anew for each principal, which takes twice as long if nothing is compiled.
$(PYPI_SERVERS:%=.venv-%/.ready): .venv-%/.ready: requirements/mcp/%.lock
	@rm -rf $(@D)  # it may be of another Python
	$(new_environment)
	$(install_lock)
	$(COMPILE)
	@touch $@

# The first Python that is new enough; where there is none, the package says so.
$(PYPI_SERVERS:%=.venv-%/.ready): PYTHON = $(shell requirements/find_python 3.12)

$(NPM_SERVERS:%=.venv-%/.ready): .venv-%/.ready: requirements/mcp/%/package-lock.json
	@command -v npm >/dev/null || \
		{ echo "$* needs npm and node (Debian: apt-get install npm)" >&2; exit 1; }
	@echo "Setting up $(@D) from $<"
	@mkdir -p $(@D) && cp $(<D)/package.json $< $(@D)
	@npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@
