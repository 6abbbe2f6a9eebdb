# setup  make .venv from the lock file        demo   a synthetic campaign, end to end
# test   every test                           lint   ruff, mypy and sqlfluff
# bench  speed beside what one would use       docs   every mart and column on one page
# With Java 17 or later (they add pyspark to .venv):
# spark           the same tables from Spark as from DuckDB, and what its plans must not do
# spark-cluster   ingest and build on a Spark cluster of this machine that loses a worker in the middle of each
# bench-spark     growing campaigns on one worker and two, with what they shuffle
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test lint bench docs spark spark-cluster bench-spark
setup: .venv/.locked
demo test lint bench docs: setup
spark spark-cluster bench-spark: .venv/.spark

.venv/.locked: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Seamline needs Python 3.11 to 3.13; name one: make PYTHON=python3.12 setup")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv/.spark: requirements-spark.lock .venv/.locked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-spark.lock
	touch $@

demo:
	$(BIN)/seamline demo

test:
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint models tests --processes 2

bench:
	$(BIN)/python -m tests.bench

docs:
	$(BIN)/seamline init
	$(BIN)/dbt --quiet docs generate --static
	@echo target/static_index.html

spark:
	$(BIN)/python -m pytest tests/python/spark

spark-cluster:
	$(BIN)/python -m tests.spark

bench-spark:
	$(BIN)/python -m tests.bench.bench_spark
