-- A project may do without proposals that nobody asked for.

ALTER TABLE projects ADD COLUMN auto_propose boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN projects.auto_propose IS
  'whether closing a task, marking a decision or archiving a conversation has the assistant propose what to remember';
