-- Each reference carries the project, so that the database refuses another project's row. References that are NOT
-- ENFORCED are checked by triggers, once per statement: see db/references.sql.
alter table account_tokens add constraint account_tokens_user
	foreign key (user_id) references users(id) on delete cascade;
alter table attachments add constraint attachments_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table attempts add constraint attempts_email
	foreign key (project_id, email_id) references emails(project_id, id) on delete cascade;
alter table attempts add constraint attempts_project
	foreign key (project_id) references projects(id) on delete cascade not enforced;
alter table automation_event_names add constraint automation_event_names_automation
	foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade;
alter table automation_event_names add constraint automation_event_names_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table automation_steps add constraint automation_steps_automation
	foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade;
alter table automation_steps add constraint automation_steps_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table automation_steps add constraint automation_steps_template
	foreign key (project_id, template_id) references templates(project_id, id);
alter table automation_transitions add constraint automation_transitions_automation
	foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade;
alter table automation_transitions add constraint automation_transitions_from_step
	foreign key (project_id, automation_id, from_step_id) references automation_steps(project_id, automation_id, id) on delete cascade;
alter table automation_transitions add constraint automation_transitions_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table automation_transitions add constraint automation_transitions_to_step
	foreign key (project_id, automation_id, to_step_id) references automation_steps(project_id, automation_id, id) on delete cascade;
alter table automation_versions add constraint automation_versions_automation
	foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade;
alter table automation_versions add constraint automation_versions_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table automations add constraint automations_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table automations add constraint automations_segment
	foreign key (project_id, segment_id) references segments(project_id, id);
alter table billing_accounts add constraint billing_accounts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table campaign_counts add constraint campaign_counts_campaign
	foreign key (project_id, campaign_id) references campaigns(project_id, id) on delete cascade;
alter table campaign_counts add constraint campaign_counts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table campaign_tallies add constraint campaign_tallies_campaign
	foreign key (project_id, campaign_id) references campaigns(project_id, id) on delete cascade;
alter table campaign_tallies add constraint campaign_tallies_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table campaigns add constraint campaigns_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table campaigns add constraint campaigns_segment
	foreign key (project_id, segment_id) references segments(project_id, id) on delete set null (segment_id);
alter table campaigns add constraint campaigns_template
	foreign key (project_id, template_id) references templates(project_id, id) on delete set null (template_id);
alter table contact_field_changes add constraint contact_field_changes_project
	foreign key (project_id) references projects(id) on delete cascade not enforced;
alter table contact_field_values add constraint contact_field_values_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table contact_fields add constraint contact_fields_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table contacts add constraint contacts_project
	foreign key (project_id) references projects(id) on delete cascade not enforced;
alter table domains add constraint domains_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table emails add constraint emails_campaign
	foreign key (project_id, campaign_id) references campaigns(project_id, id) not enforced;
alter table emails add constraint emails_contact
	foreign key (project_id, contact_id) references contacts(project_id, id) on delete set null (contact_id) not enforced;
alter table emails add constraint emails_project
	foreign key (project_id) references projects(id) on delete cascade not enforced;
alter table emails add constraint emails_template
	foreign key (project_id, template_id) references templates(project_id, id) on delete set null (template_id);
alter table engagements add constraint engagements_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table enrolments add constraint enrolments_automation
	foreign key (project_id, automation_id) references automations(project_id, id) on delete cascade;
alter table enrolments add constraint enrolments_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table event_counts add constraint event_counts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table event_tallies add constraint event_tallies_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table events add constraint events_contact
	foreign key (project_id, contact_id) references contacts(project_id, id) on delete set null (contact_id) not enforced;
alter table events add constraint events_email
	foreign key (project_id, email_id) references emails(project_id, id) on delete set null (email_id) not enforced;
alter table events add constraint events_project
	foreign key (project_id) references projects(id) on delete cascade not enforced;
alter table execution_steps add constraint execution_steps_execution
	foreign key (project_id, execution_id) references executions(project_id, id) on delete cascade;
alter table execution_steps add constraint execution_steps_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table executions add constraint executions_contact
	foreign key (project_id, contact_id) references contacts(project_id, id) on delete set null (contact_id);
alter table executions add constraint executions_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table executions add constraint executions_version
	foreign key (project_id, automation_id, version) references automation_versions(project_id, automation_id, version) on delete cascade not enforced;
alter table feed_entries add constraint feed_entries_contact
	foreign key (project_id, contact_id) references contacts(project_id, id) on delete set null (contact_id);
alter table feed_entries add constraint feed_entries_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table idempotency_keys add constraint idempotency_keys_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table import_changes add constraint import_changes_job
	foreign key (project_id, job_id) references jobs(project_id, id) on delete cascade;
alter table import_changes add constraint import_changes_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table import_chunks add constraint import_chunks_job
	foreign key (project_id, job_id) references jobs(project_id, id) on delete cascade;
alter table import_chunks add constraint import_chunks_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table import_files add constraint import_files_job
	foreign key (project_id, job_id) references jobs(project_id, id) on delete cascade;
alter table import_files add constraint import_files_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table invitations add constraint invitations_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table job_contacts add constraint job_contacts_job
	foreign key (project_id, job_id) references jobs(project_id, id) on delete cascade;
alter table job_contacts add constraint job_contacts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table job_errors add constraint job_errors_job
	foreign key (project_id, job_id) references jobs(project_id, id) on delete cascade;
alter table job_errors add constraint job_errors_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table jobs add constraint jobs_import
	foreign key (project_id, import_id) references jobs(project_id, id) on delete cascade;
alter table jobs add constraint jobs_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table mail_counts add constraint mail_counts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table mail_tallies add constraint mail_tallies_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table mailbox_messages add constraint mailbox_messages_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table memberships add constraint memberships_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table memberships add constraint memberships_user
	foreign key (user_id) references users(id) on delete cascade;
alter table oauth_identities add constraint oauth_identities_user
	foreign key (user_id) references users(id) on delete cascade;
alter table outbox add constraint outbox_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table queued_sends add constraint queued_sends_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table removed_automations add constraint removed_automations_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table reputation_counts add constraint reputation_counts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table reputation_tallies add constraint reputation_tallies_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table request_budgets add constraint request_budgets_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table restored_contacts add constraint restored_contacts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table segment_members add constraint segment_members_contact
	foreign key (project_id, contact_id) references contacts(project_id, id) on delete cascade not enforced;
alter table segment_members add constraint segment_members_project
	foreign key (project_id) references projects(id) on delete cascade not enforced;
alter table segment_members add constraint segment_members_segment
	foreign key (project_id, segment_id) references segments(project_id, id) on delete cascade not enforced;
alter table segment_tallies add constraint segment_tallies_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table segment_tallies add constraint segment_tallies_segment
	foreign key (project_id, segment_id) references segments(project_id, id) on delete cascade;
alter table segments add constraint segments_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table send_budgets add constraint send_budgets_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table sessions add constraint sessions_user
	foreign key (user_id) references users(id) on delete cascade;
alter table suppressions add constraint suppressions_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table suspensions add constraint suspensions_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table templates add constraint templates_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table usage_counts add constraint usage_counts_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table usage_notices add constraint usage_notices_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table usage_reports add constraint usage_reports_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table usage_tallies add constraint usage_tallies_project
	foreign key (project_id) references projects(id) on delete cascade;
alter table webhook_secrets add constraint webhook_secrets_project
	foreign key (project_id) references projects(id) on delete cascade;
