"""Realistic messages in large numbers: sentences of several languages, told from a pool, put together by the server."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql

from nexus_core import conversations, projects, terms
from nexus_core.conversations import Place
from nexus_core.database import Scope, transaction

PROJECTS = 20
PER_CONVERSATION = 40
SENTENCES = 1_500
"""Sentences in the pool for each language."""

# Subject, verb, object, time: each language's own, so that words repeat as they do in real work.
LANGUAGES: dict[str, tuple[list[str], list[str], list[str], list[str]]] = {
    "es": (
        ["La directora", "El equipo de ventas", "Nuestro proveedor", "La oficina de Lisboa", "El cliente de Bilbao",
         "Marta", "El comité", "La auditora", "Iván", "Recepción", "El abogado", "La imprenta"],
        ["ha decidido", "quiere revisar", "todavía no ha enviado", "aprobó", "rechazó", "pregunta por", "ha perdido",
         "necesita", "va a posponer", "ha corregido", "explicó", "retrasa"],
        ["el descuento del doce por ciento", "la entrega de los pedidos", "el contrato con la región norte",
         "las facturas de marzo", "la migración de la base de datos", "el presupuesto del próximo año",
         "la reunión con los técnicos", "el informe de riesgos", "las pruebas de la aplicación",
         "la calibración del sensor", "el catálogo de otoño", "la lista de precios"],
        ["esta semana.", "antes del viernes.", "desde ayer por la tarde.", "para la próxima versión.",
         "sin dar motivo.", "y espera una respuesta.", "porque falta una firma.", "con mucho cuidado."],
    ),
    "en": (
        ["The board", "Our supplier", "The sales team", "The Leeds office", "Legal", "Hana", "The customer in Oslo",
         "The auditor", "Support", "The night shift", "Rui", "Procurement"],
        ["decided on", "wants to review", "has not sent", "approved", "rejected", "asked about", "lost", "needs",
         "postponed", "corrected", "explained", "delays"],
        ["the discount for the northern region", "the delivery of all orders", "the contract renewal",
         "the invoices from March", "the database migration", "next year's budget", "the meeting with engineering",
         "the risk report", "the application tests", "the calibration of the sensor", "the autumn catalogue",
         "the price list"],
        ["this week.", "before Friday.", "since yesterday afternoon.", "for the next release.",
         "without giving a reason.", "and waits for an answer.", "because a signature is missing.", "with great care."],
    ),
    "fr": (
        ["La direction", "Notre fournisseur", "L'équipe commerciale", "Le bureau de Lyon", "Jérôme", "Le client"],
        ["a décidé", "veut revoir", "n'a pas envoyé", "a approuvé", "a refusé", "demande"],
        ["la remise pour la région nord", "la livraison des commandes", "le contrat", "les factures de mars",
         "la migration de la base", "le budget de l'année prochaine"],
        ["cette semaine.", "avant vendredi.", "depuis hier.", "pour la prochaine version."],
    ),
    "zh": (
        ["董事会", "供应商", "销售团队", "客户", "审计员"], ["决定了", "想审查", "还没有发送", "批准了", "拒绝了"],
        ["北方地区的折扣", "所有订单的交付", "合同续签", "三月的发票", "数据库迁移问题"],
        ["本周。", "星期五之前。", "从昨天开始。"],
    ),
}  # fmt: skip
WEIGHTS = {"es": 45, "en": 40, "fr": 10, "zh": 5}

POOL = """
CREATE TEMPORARY TABLE pool (language text, n integer, body text, folded text, words tsvector,
                             PRIMARY KEY (language, n))
"""
CONVERSATIONS = """
INSERT INTO conversations (workspace_id, id, user_id, project_id, title, title_source, kind, status, next_seq,
                           created_at, updated_at, last_message_at)
SELECT %(workspace)s, gen_random_uuid(),
       CASE WHEN g.n %% 4 = 0 THEN %(user)s
            ELSE (CAST(%(people)s AS uuid[]))[1 + g.n %% cardinality(CAST(%(people)s AS uuid[]))] END,
       CASE WHEN g.n %% 12 > 0 THEN (CAST(%(projects)s AS uuid[]))[1 + floor(%(count)s * power(random(), 2))] END,
       initcap(p.body), 'question', (ARRAY['project', 'task', 'decision', 'run', 'support'])[1 + g.n %% 5],
       (ARRAY['open', 'open', 'open', 'summarized', 'archived'])[1 + g.n %% 5], %(per)s + 1, t.at, t.at,
       t.at + interval '3 hours'
FROM generate_series(1, %(conversations)s) AS g (n)
CROSS JOIN LATERAL (
  SELECT now() - interval '1 hour' * ((%(conversations)s - g.n) * 26000.0 / %(conversations)s) AS at) t
JOIN pool p ON p.language = CASE WHEN g.n %% 20 < 9 THEN 'es' WHEN g.n %% 20 < 17 THEN 'en'
                                 WHEN g.n %% 20 < 19 THEN 'fr'                                 ELSE 'zh' END
  AND p.n = g.n %% %(pool)s
"""
MESSAGES = """
INSERT INTO messages (workspace_id, id, conversation_id, private_to, place, seq, parent_seq, role, parts, body, tokens,
                      created_at, updated_at)
SELECT c.workspace_id, gen_random_uuid(), c.id, c.private_to, c.place, k, nullif(k - 1, 0),
       CASE WHEN k %% 2 = 1 THEN 'user' ELSE 'assistant' END,
       jsonb_build_array(jsonb_build_object('type', 'text', 'text', b.body)), b.body, 40,
       c.created_at + k * interval '4 minutes', c.created_at
FROM picked c
JOIN pool p1 ON p1.language = c.language AND p1.n = c.n1
JOIN pool p2 ON p2.language = c.language AND p2.n = c.n2
CROSS JOIN LATERAL (SELECT p1.body || ' ' || p2.body || ' Ref ' || c.reference AS body) b
"""
INDEXED = """
INSERT INTO message_search
  (workspace_id, message_id, conversation_id, project_id, private_to, seq, created_at, folded, words)
SELECT c.workspace_id, m.id, c.id, c.project_id, c.private_to, k, m.created_at,
       p1.folded || ltrim(p2.folded) || 'ref ' || c.reference || ' ',
       p1.words || p2.words || array_to_tsvector(ARRAY['ref', CAST(c.reference AS text), '~' || c.reference])
         || nexus.scope_words(c.project_id, c.private_to, c.workspace_id)
FROM picked c
JOIN messages m ON m.workspace_id = c.workspace_id AND m.conversation_id = c.id AND m.seq = c.k
JOIN pool p1 ON p1.language = c.language AND p1.n = c.n1
JOIN pool p2 ON p2.language = c.language AND p2.n = c.n2
"""
PICKED = """
CREATE TEMPORARY TABLE picked AS
SELECT c.workspace_id, c.id, c.project_id, c.private_to, c.place, c.created_at, c.language, k,
       CAST(floor(%(pool)s * power(random(), 1.5)) AS integer) AS n1,
       CAST(floor(%(pool)s * power(random(), 1.5)) AS integer) AS n2,
       CAST(100000 + floor(random() * 900000) AS integer) AS reference
FROM (SELECT c.*, (ARRAY['es', 'es', 'es', 'es', 'es', 'es', 'es', 'es', 'es', 'en', 'en', 'en', 'en', 'en',
                         'en', 'en', 'en',
                         'fr', 'fr', 'zh'])[1 + (row_number() OVER (ORDER BY c.created_at)) %% 20] AS language
      FROM conversations c WHERE c.workspace_id = %(workspace)s) c
CROSS JOIN generate_series(1, %(per)s) AS k
"""
TITLES = """
INSERT INTO title_search (workspace_id, conversation_id, project_id, private_to, folded, words)
SELECT c.workspace_id, c.id, c.project_id, c.private_to, p.folded,
       p.words || nexus.scope_words(c.project_id, c.private_to, c.workspace_id)
FROM conversations c
JOIN (SELECT DISTINCT ON (initcap(body)) initcap(body) AS title, folded, words FROM pool) p USING (title)
WHERE c.workspace_id = %(workspace)s
"""
TAGS = """
INSERT INTO tags (workspace_id, id, name)
SELECT %(workspace)s, gen_random_uuid(), 'tag ' || n FROM generate_series(1, 8) n;
INSERT INTO conversation_tags (workspace_id, conversation_id, tag_id)
SELECT c.workspace_id, c.id, t.id FROM conversations c
JOIN tags t ON t.workspace_id = c.workspace_id AND hashtext(CAST(c.id AS text) || t.name) %% 40 = 0
WHERE c.workspace_id = %(workspace)s
"""


def sentences(language: str) -> Iterator[str]:
    """The pool of a language, the same each time."""
    parts = LANGUAGES[language]
    every = list(product(*parts))
    random.Random(language).shuffle(every)
    join = "" if language == "zh" else " "
    for number in range(SENTENCES):
        yield join.join(every[number % len(every)])


def fill(admin: psycopg.Connection[Any], scope: Scope, size: int, people: list[UUID]) -> None:
    """Store `size` messages in conversations of 40, over three years, in 20 projects and private spaces, indexed.

    Triggers are passed over and the larger indexes made afterwards, as a restore does.
    """
    with transaction(scope) as tx:
        made = [projects.create(tx, f"Project {number}").id for number in range(PROJECTS)]
        conversations.create(tx, Place(made[0]), title="One by hand")
    values = {
        "workspace": scope.workspace_id, "user": scope.user_id, "people": people, "projects": made, "count": PROJECTS,
        "per": PER_CONVERSATION, "conversations": size // PER_CONVERSATION, "pool": SENTENCES,
    }  # fmt: skip
    admin.execute("SELECT set_config('nexus.role', 'system', false)")
    triggers = _without_triggers(admin)
    admin.execute("SET synchronous_commit = off")
    admin.execute("SET maintenance_work_mem = '512MB'")
    admin.execute("SET work_mem = '128MB'")
    _pool(admin)
    admin.execute(CONVERSATIONS, values)
    admin.execute(PICKED, values)
    admin.execute("ANALYZE pool, picked, conversations")
    for table, statement in (("messages", MESSAGES), ("message_search", INDEXED)):
        later = _without_indexes(admin, table)
        admin.execute(statement, values)
        for definition in later:
            admin.execute(sql.SQL(definition))  # type: ignore[arg-type]
    admin.execute(TITLES, values)
    for statement in TAGS.split(";\n"):
        admin.execute(statement, values)
    admin.execute(triggers)
    admin.execute("VACUUM ANALYZE")


def _pool(admin: psycopg.Connection[Any]) -> None:
    admin.execute(POOL)
    with admin.cursor() as cursor, cursor.copy("COPY pool FROM STDIN") as copy:
        for language in LANGUAGES:
            for number, body in enumerate(sentences(language)):
                copy.write_row((language, number, body, terms.folded(body), terms.vector(body)))


def _without_triggers(admin: psycopg.Connection[Any]) -> sql.SQL:
    """Let triggers rest; the statement that wakes them. Only a superuser may let those of foreign keys rest, too."""
    if admin.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (True,):
        admin.execute("SET session_replication_role = replica")
        return sql.SQL("SET session_replication_role = origin")
    switch = "; ".join(
        f"ALTER TABLE {name} {{0}} TRIGGER USER" for name in ("conversations", "messages", "conversation_tags")
    )
    admin.execute(sql.SQL(switch.format("DISABLE")))  # type: ignore[arg-type]
    return sql.SQL(switch.format("ENABLE"))  # type: ignore[arg-type]


def _without_indexes(admin: psycopg.Connection[Any], table: str) -> list[str]:
    """Drop a table's indexes that no constraint needs; their definitions."""
    rows = admin.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = %s::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)",
        (table,),
    ).fetchall()
    for name, _definition in rows:
        admin.execute(sql.SQL("DROP INDEX {}").format(sql.SQL(name)))
    return [definition for _name, definition in rows]
