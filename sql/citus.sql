-- Spreads Nexus over the machines of a Citus cluster by workspace. When, and what to try before: docs/deploy.md.
-- Run it once, by psql as the owner, on the coordinator, with Nexus stopped and after `python -m nexus_core migrate`:
--   psql --single-transaction --set ON_ERROR_STOP=1 --file sql/citus.sql "$NEXUS_DATABASE_URL"
-- After an upgrade that brings new tables run the statements for those; the tests keep this file complete.

-- What belongs to no workspace is small and stands whole on every machine. These come first: others point at them.
SELECT create_reference_table('public.people');
SELECT create_reference_table('public.sign_in_sessions');
SELECT create_reference_table('public.workspaces');

-- What belongs to a workspace stands on that workspace's machine, rows of one workspace together, so that every
-- transaction and every foreign key stays on one machine. A table comes after those that it points at.
SELECT create_distributed_table('public.api_tokens', 'workspace_id');
SELECT create_distributed_table('public.audit', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.former_members', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.memberships', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.model_prices', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.profiles', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.projects', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.repricings', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.run_marks', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.run_units', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.saved_views', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.tags', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.agents', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.audit_chain', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.project_memories', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.retention_rules', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.run_rollup', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.run_timings', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.tasks', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.budgets', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.conversations', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.assistant_runs', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.budget_holds', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.conversation_reads', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.conversation_tags', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.run_conversations', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.shares', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.title_queue', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.title_search', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.messages', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.proposals', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.receipts', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.repriced_runs', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.summaries', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.message_search', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.project_memory_revisions', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.search_queue', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.meaning_queue', 'workspace_id', colocate_with => 'public.api_tokens');
SELECT create_distributed_table('public.message_meaning', 'workspace_id', colocate_with => 'public.api_tokens');

-- nexus.migrations and nexus.sizes stay on the coordinator: they say something of the database as a whole.
