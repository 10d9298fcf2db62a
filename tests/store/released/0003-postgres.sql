CREATE TABLE public.api_token (
    id text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    workspace text,
    role text,
    permissions json NOT NULL,
    agents json NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL,
    expires_at bigint
);
CREATE TABLE public.audit (
    workspace text NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    user_name text NOT NULL,
    action text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    before_document json,
    after_document json,
    request_id text NOT NULL
);
CREATE TABLE public.bracket_place (
    workspace text NOT NULL,
    rule_id uuid NOT NULL,
    environment text NOT NULL,
    resource text NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.bracket_version_group (
    id uuid NOT NULL,
    workspace text NOT NULL,
    bracket_rule_id uuid NOT NULL,
    resource_id uuid,
    environment_id uuid,
    collection_started_at timestamp with time zone NOT NULL,
    collection_ends_at timestamp with time zone NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    policy text NOT NULL,
    environment text NOT NULL,
    resource text NOT NULL,
    is_current boolean NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.bracket_version_group_member (
    workspace text NOT NULL,
    group_id uuid NOT NULL,
    deployment_id uuid NOT NULL,
    version_id uuid,
    locked_at timestamp with time zone,
    deployment text NOT NULL,
    role text NOT NULL,
    state text NOT NULL
);
CREATE TABLE public.deployment (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.deployment_version (
    workspace text NOT NULL,
    deployment text NOT NULL,
    tag text NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    target_selector text,
    created_at timestamp with time zone NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.environment (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.event (
    workspace text NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    message text NOT NULL,
    data json NOT NULL
);
CREATE TABLE public.failure_latch (
    workspace text NOT NULL,
    rule_id uuid NOT NULL,
    scope text NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.freeze_order (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.history_piece (
    workspace text NOT NULL,
    segment bigint NOT NULL,
    piece bigint NOT NULL,
    at bigint NOT NULL,
    until bigint NOT NULL,
    until_at bigint NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.idempotency_key (
    workspace text NOT NULL,
    key text NOT NULL,
    fingerprint text NOT NULL,
    status bigint NOT NULL,
    body json NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.job (
    workspace text NOT NULL,
    id uuid NOT NULL,
    deployment text NOT NULL,
    environment text NOT NULL,
    resource text NOT NULL,
    version_id uuid NOT NULL,
    tag text NOT NULL,
    status text NOT NULL,
    attempt bigint NOT NULL,
    kind text NOT NULL,
    agent text,
    group_id uuid,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    is_current boolean NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.job_agent (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.job_dispatch (
    workspace text NOT NULL,
    job text NOT NULL,
    agent text NOT NULL,
    type text NOT NULL,
    document json NOT NULL,
    created_at bigint NOT NULL,
    not_before bigint NOT NULL,
    deadline_at bigint,
    claims bigint NOT NULL,
    claimed_by text,
    claimed_until bigint,
    token bigint NOT NULL,
    cancelled boolean NOT NULL,
    state json NOT NULL
);
CREATE TABLE public.job_log (
    workspace text NOT NULL,
    job text NOT NULL,
    first bigint NOT NULL,
    at bigint NOT NULL,
    count bigint NOT NULL,
    bytes bigint NOT NULL,
    lines json NOT NULL
);
CREATE TABLE public.lease (
    name text NOT NULL,
    holder text NOT NULL,
    token bigint NOT NULL,
    ends_at bigint NOT NULL
);
CREATE TABLE public.log_entry (
    workspace text NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    user_name text NOT NULL,
    trace_parent text,
    payload json NOT NULL
);
CREATE TABLE public.policy (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL,
    selector text,
    priority bigint NOT NULL,
    enabled boolean NOT NULL
);
CREATE TABLE public.policy_retired (
    workspace text NOT NULL,
    rule_id uuid NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.policy_rule (
    id uuid NOT NULL,
    workspace text NOT NULL,
    policy_id uuid NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    name text,
    document json NOT NULL
);
CREATE TABLE public.policy_rule_deployment_bracket (
    id uuid NOT NULL,
    workspace text NOT NULL,
    policy_id uuid NOT NULL,
    deployment_selector text NOT NULL,
    readiness_mode text NOT NULL,
    readiness_window_seconds bigint,
    unchanged_member_strategy text NOT NULL,
    overlap_strategy text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.policy_rule_deployment_dependency (
    id uuid NOT NULL,
    workspace text NOT NULL,
    policy_id uuid NOT NULL,
    depends_on text NOT NULL,
    applies_to text,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.policy_rule_resource_concurrency (
    id uuid NOT NULL,
    workspace text NOT NULL,
    policy_id uuid NOT NULL,
    group_selector text NOT NULL,
    limit_type text NOT NULL,
    limit_value bigint NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE TABLE public.policy_skip (
    workspace text NOT NULL,
    id text NOT NULL,
    rule_id uuid NOT NULL,
    version_id uuid,
    environment text,
    resource text,
    reason text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.release_target (
    workspace text NOT NULL,
    name text NOT NULL,
    deployed_version_id uuid,
    deployed_at timestamp with time zone,
    job_id uuid,
    document json NOT NULL
);
CREATE TABLE public.resource (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL,
    identifier text NOT NULL,
    kind text NOT NULL,
    version text NOT NULL
);
CREATE TABLE public.schema_version (
    version integer NOT NULL
);
CREATE TABLE public.scope_warning (
    workspace text NOT NULL,
    target text NOT NULL,
    version_id uuid NOT NULL
);
CREATE TABLE public.service_document (
    workspace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.signal (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.user_approval_record (
    workspace text NOT NULL,
    version_id uuid NOT NULL,
    environment text NOT NULL,
    user_id text NOT NULL,
    status text NOT NULL,
    reason text,
    created_at timestamp with time zone NOT NULL,
    document json NOT NULL
);
CREATE TABLE public.variable_set (
    workspace text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone,
    document json NOT NULL
);
CREATE TABLE public.version_progress (
    workspace text NOT NULL,
    version_id uuid NOT NULL,
    target text NOT NULL,
    environment text NOT NULL,
    succeeded_at bigint,
    is_verified bigint,
    verified_at bigint
);
CREATE TABLE public.workspace (
    name text NOT NULL,
    id uuid NOT NULL,
    description text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    log_head bigint NOT NULL,
    event_head bigint NOT NULL,
    audit_head bigint NOT NULL,
    consumed bigint NOT NULL,
    sequence bigint NOT NULL
);
INSERT INTO public.api_token VALUES ('id-of-of home', 'of home', 'hash-of-of home', 'home', 'operator', '["job:run","token:write"]', '["runner"]', 1772355600000000, 'ada', 1772359200000000);
INSERT INTO public.audit VALUES ('home', 1, 1772355600000000, 'ada', 'create', 'Resource', 'web', NULL, '{"name":"x"}', 'request-1');
INSERT INTO public.bracket_place VALUES ('home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '', '{}');
INSERT INTO public.bracket_version_group VALUES ('f37af6c9-d865-5ced-88d0-200ed124d9ce', 'home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', NULL, NULL, '2026-03-01 09:00:00+00', '2026-03-01 09:00:00+00', '', '2026-03-01 09:00:00+00', '', '', '', true, '{}');
INSERT INTO public.bracket_version_group_member VALUES ('home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', NULL, NULL, '', '', '');
INSERT INTO public.deployment VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.deployment_version VALUES ('home', '', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '', NULL, '2026-03-01 09:00:00+00', '{}');
INSERT INTO public.environment VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.event VALUES ('home', 1, 1772355600000000, 'version.created', 'Version', 'api/1', 'it''s here', '{"a":"\u00e9"}');
INSERT INTO public.failure_latch VALUES ('home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '{}');
INSERT INTO public.freeze_order VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.idempotency_key VALUES ('home', 'key', 'print', 201, '"{}"', 1772355600000000);
INSERT INTO public.job VALUES ('home', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '', '', '', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '', 0, '', NULL, NULL, '2026-03-01 09:00:00+00', NULL, NULL, true, '{}');
INSERT INTO public.job_agent VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.job_dispatch VALUES ('home', 'job', 'runner', 'pull', '{"job": {"id": "job"}}', 1772355600000000, 1772355600000000, 1772355600000001, 0, NULL, NULL, 0, false, '{}');
INSERT INTO public.log_entry VALUES ('home', 1, 1772355600000000, 'change', 'ada', NULL, '{"type":"Put"}');
INSERT INTO public.log_entry VALUES ('home', 2, 1772355600000000, 'change', 'ada', NULL, '{}');
INSERT INTO public.policy VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}', NULL, 0, false);
INSERT INTO public.policy_retired VALUES ('home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '{}');
INSERT INTO public.policy_rule VALUES ('f37af6c9-d865-5ced-88d0-200ed124d9ce', 'home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', 0, '', NULL, '{}');
INSERT INTO public.policy_rule_deployment_bracket VALUES ('f37af6c9-d865-5ced-88d0-200ed124d9ce', 'home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '', NULL, '', '', '2026-03-01 09:00:00+00');
INSERT INTO public.policy_rule_deployment_dependency VALUES ('f37af6c9-d865-5ced-88d0-200ed124d9ce', 'home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', NULL, '2026-03-01 09:00:00+00');
INSERT INTO public.policy_rule_resource_concurrency VALUES ('f37af6c9-d865-5ced-88d0-200ed124d9ce', 'home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '', 0, '2026-03-01 09:00:00+00');
INSERT INTO public.policy_skip VALUES ('home', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', NULL, NULL, NULL, '', '', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.release_target VALUES ('home', '', NULL, NULL, NULL, '{}');
INSERT INTO public.resource VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}', '', '', '');
INSERT INTO public.schema_version VALUES (1);
INSERT INTO public.schema_version VALUES (2);
INSERT INTO public.schema_version VALUES (3);
INSERT INTO public.scope_warning VALUES ('home', '', 'f48bd136-5971-506f-816f-d9dd9e91e7a9');
INSERT INTO public.service_document VALUES ('home', 'System', 'web', '{}');
INSERT INTO public.signal VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.user_approval_record VALUES ('home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '', '', NULL, '2026-03-01 09:00:00+00', '{}');
INSERT INTO public.variable_set VALUES ('home', '', 'f37af6c9-d865-5ced-88d0-200ed124d9ce', '2026-03-01 09:00:00+00', NULL, '{}');
INSERT INTO public.version_progress VALUES ('home', 'f48bd136-5971-506f-816f-d9dd9e91e7a9', '', '', NULL, NULL, NULL);
INSERT INTO public.workspace VALUES ('home', 'a4c0926e-2a9a-5ebb-bad7-8ba42ff6ee34', 'The workspace home', '2026-03-01 09:00:00+00', 2, 1, 1, 2, 5);
ALTER TABLE ONLY public.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (workspace, seq);
ALTER TABLE ONLY public.bracket_place
    ADD CONSTRAINT bracket_place_pkey PRIMARY KEY (workspace, rule_id, environment, resource);
ALTER TABLE ONLY public.bracket_version_group_member
    ADD CONSTRAINT bracket_version_group_member_pkey PRIMARY KEY (workspace, group_id, deployment_id);
ALTER TABLE ONLY public.bracket_version_group
    ADD CONSTRAINT bracket_version_group_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.deployment
    ADD CONSTRAINT deployment_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.deployment_version
    ADD CONSTRAINT deployment_version_pkey PRIMARY KEY (workspace, deployment, tag);
ALTER TABLE ONLY public.environment
    ADD CONSTRAINT environment_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (workspace, seq);
ALTER TABLE ONLY public.failure_latch
    ADD CONSTRAINT failure_latch_pkey PRIMARY KEY (workspace, rule_id, scope);
ALTER TABLE ONLY public.freeze_order
    ADD CONSTRAINT freeze_order_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.history_piece
    ADD CONSTRAINT history_piece_pkey PRIMARY KEY (workspace, segment, piece);
ALTER TABLE ONLY public.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (workspace, key);
ALTER TABLE ONLY public.job_agent
    ADD CONSTRAINT job_agent_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.job_dispatch
    ADD CONSTRAINT job_dispatch_pkey PRIMARY KEY (workspace, job);
ALTER TABLE ONLY public.job_log
    ADD CONSTRAINT job_log_pkey PRIMARY KEY (workspace, job, first);
ALTER TABLE ONLY public.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.log_entry
    ADD CONSTRAINT log_entry_pkey PRIMARY KEY (workspace, seq);
ALTER TABLE ONLY public.policy
    ADD CONSTRAINT policy_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.policy_retired
    ADD CONSTRAINT policy_retired_pkey PRIMARY KEY (workspace, rule_id);
ALTER TABLE ONLY public.policy_rule_deployment_bracket
    ADD CONSTRAINT policy_rule_deployment_bracket_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.policy_rule_deployment_dependency
    ADD CONSTRAINT policy_rule_deployment_dependency_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.policy_rule
    ADD CONSTRAINT policy_rule_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.policy_rule_resource_concurrency
    ADD CONSTRAINT policy_rule_resource_concurrency_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.policy_skip
    ADD CONSTRAINT policy_skip_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.release_target
    ADD CONSTRAINT release_target_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.resource
    ADD CONSTRAINT resource_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.scope_warning
    ADD CONSTRAINT scope_warning_pkey PRIMARY KEY (workspace, target, version_id);
ALTER TABLE ONLY public.service_document
    ADD CONSTRAINT service_document_pkey PRIMARY KEY (workspace, kind, name);
ALTER TABLE ONLY public.signal
    ADD CONSTRAINT signal_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.user_approval_record
    ADD CONSTRAINT user_approval_record_pkey PRIMARY KEY (workspace, version_id, environment, user_id);
ALTER TABLE ONLY public.variable_set
    ADD CONSTRAINT variable_set_pkey PRIMARY KEY (workspace, name);
ALTER TABLE ONLY public.version_progress
    ADD CONSTRAINT version_progress_pkey PRIMARY KEY (workspace, version_id, target);
ALTER TABLE ONLY public.workspace
    ADD CONSTRAINT workspace_pkey PRIMARY KEY (name);
CREATE INDEX api_token_by_hash ON public.api_token USING btree (hash);
CREATE INDEX audit_by_workspace_kind_name_seq ON public.audit USING btree (workspace, kind, name, seq);
CREATE INDEX bracket_version_group_by_workspace_created_at_id ON public.bracket_version_group USING btree (workspace, created_at, id);
CREATE INDEX idempotency_key_by_at ON public.idempotency_key USING btree (at);
CREATE INDEX job_by_workspace_created_at_id ON public.job USING btree (workspace, created_at, id);
CREATE INDEX job_by_workspace_deployment_created_at ON public.job USING btree (workspace, deployment, created_at);
CREATE INDEX job_dispatch_by_deadline_at ON public.job_dispatch USING btree (deadline_at);
CREATE INDEX job_dispatch_by_type_not_before ON public.job_dispatch USING btree (type, not_before);
CREATE INDEX policy_rule_by_workspace_policy_id ON public.policy_rule USING btree (workspace, policy_id);
CREATE INDEX policy_rule_deployment_bracket_by_workspace_policy_id ON public.policy_rule_deployment_bracket USING btree (workspace, policy_id);
CREATE INDEX policy_rule_deployment_dependency_by_workspace_policy_id ON public.policy_rule_deployment_dependency USING btree (workspace, policy_id);
CREATE INDEX policy_rule_resource_concurrency_by_workspace_policy_id ON public.policy_rule_resource_concurrency USING btree (workspace, policy_id);
