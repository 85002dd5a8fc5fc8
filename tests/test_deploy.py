"""What docs/deploy ships is complete and fits the code: settings, files, and the tables that Citus would spread."""

import configparser
import re
from collections import defaultdict

import psycopg
import yaml

from nexus_core.config import Settings
from nexus_core.database import ROOT

SHIPPED = ROOT / "docs" / "deploy"
GUIDE = ROOT / "docs" / "deploy.md"
CITUS = ROOT / "sql" / "citus.sql"
BESIDE_SETTINGS = {"NEXUS_ALLOWED_HOSTS", "NEXUS_ENV_FILE"}
# As Citus declares them; they note what they were asked and look at the table as Citus does.
STUBS = """
CREATE TABLE asked (n serial, name regclass UNIQUE, col text, beside regclass);
CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE sql
  AS $$ INSERT INTO asked (name) VALUES (table_name) $$;
CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
    distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default') RETURNS void LANGUAGE sql
  AS $$ INSERT INTO asked (name, col, beside)
        SELECT table_name, attname, CAST(nullif(colocate_with, 'default') AS regclass)
        FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column AND attnotnull $$;
"""
TABLES = """
SELECT CAST(CAST(c.oid AS regclass) AS text),
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace_id' AND NOT attisdropped)
FROM pg_class c WHERE c.relnamespace = CAST('public' AS regnamespace) AND c.relkind IN ('r', 'p') AND relname <> 'asked'
"""
REFERENCES = """
SELECT DISTINCT CAST(CAST(conrelid AS regclass) AS text), CAST(CAST(confrelid AS regclass) AS text)
FROM pg_constraint WHERE contype = 'f' AND conrelid <> confrelid
"""


def test_citus_is_told_of_every_table_and_of_no_other_in_an_order_that_it_takes(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(STUBS)
        connection.execute(CITUS.read_text("utf-8").encode())
        asked = connection.execute("SELECT name::text, col, beside::text FROM asked ORDER BY n").fetchall()
        scoped = dict(connection.execute(TABLES).fetchall())
        points_at = defaultdict(set)
        for table, target in connection.execute(REFERENCES).fetchall():
            points_at[table].add(target)
    assert {table for table, column, _beside in asked if column == "workspace_id"} == {t for t in scoped if scoped[t]}
    assert {table for table, column, _beside in asked if column is None} == {t for t in scoped if not scoped[t]}
    first, *others = [table for table, column, _beside in asked if column]
    assert {beside for _table, column, beside in asked if column} == {None, first}
    assert len(others) == sum(beside == first for _table, _column, beside in asked)
    made: set[str] = set()
    for table, column, _beside in asked:
        assert points_at[table] <= made, f"{table} comes before what it points at"
        assert column or not any(scoped[target] for target in points_at[table])
        made.add(table)


def test_every_file_is_named_in_the_guide_and_names_settings_that_there_are() -> None:
    guide = GUIDE.read_text("utf-8")
    known = {f"NEXUS_{name.upper()}" for name in Settings.model_fields} | BESIDE_SETTINGS
    for path in SHIPPED.iterdir():
        assert f"(deploy/{path.name})" in guide, path.name
        assert set(re.findall(r"\bNEXUS_[A-Z_]+\b", path.read_text("utf-8") + guide)) <= known, path.name


def test_every_file_that_the_guide_links_to_is_there() -> None:
    links = re.findall(r"]\(([^)#:]+)\)", GUIDE.read_text("utf-8"))
    assert len(links) > 5
    for link in links:
        assert (GUIDE.parent / link).exists(), link


def test_the_files_are_of_their_kind() -> None:
    services = yaml.safe_load((SHIPPED / "compose.yaml").read_text("utf-8"))["services"]
    assert set(services) == {"db", "nexus1", "nexus2", "nginx"}
    assert services["nexus1"] == services["nexus2"]
    assert services["nexus1"]["environment"]["NEXUS_AUTH"] == "password"
    assert not any("hostname" in service for service in services.values())
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string((SHIPPED / "nexus.service").read_text("utf-8"))
    assert unit["Service"]["ExecStart"].endswith("-m nexus_core serve")
    assert unit["Service"]["EnvironmentFile"] == "/etc/nexus.env"
    environment = (SHIPPED / "nexus.env").read_text("utf-8")
    set_ = dict(line.split("=", 1) for line in environment.splitlines() if re.match(r"[A-Z]", line))
    assert set_["NEXUS_AUTH"] == "password"
