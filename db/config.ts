import { Migrator } from '@mikro-orm/migrations'
import { defineConfig } from '@mikro-orm/postgresql'
import { AccountToken } from './accounts/account-token.ts'
import { OAuthIdentity } from './accounts/oauth-identity.ts'
import { Session } from './accounts/session.ts'
import { User } from './accounts/user.ts'
import { FeedEntry } from './analytics/feed-entry.ts'
import { MailCount, MailTally } from './analytics/mail-count.ts'
import { AutomationStep } from './automations/automation-step.ts'
import { AutomationTransition } from './automations/automation-transition.ts'
import { AutomationEventName, AutomationVersion } from './automations/automation-version.ts'
import { Automation } from './automations/automation.ts'
import { Enrolment } from './automations/enrolment.ts'
import { RemovedAutomation } from './automations/removed-automation.ts'
import { BillingAccount } from './billing/billing-account.ts'
import { UsageCount, UsageTally } from './billing/usage-count.ts'
import { UsageNotice } from './billing/usage-notice.ts'
import { UsageReport } from './billing/usage-report.ts'
import { RequestBudget, SendBudget } from './budget.ts'
import { AudiencePage } from './campaigns/audience-page.ts'
import { CampaignCount, CampaignTally } from './campaigns/campaign-count.ts'
import { CampaignSlot } from './campaigns/campaign-slot.ts'
import { Campaign } from './campaigns/campaign.ts'
import { connecting } from './connecting.ts'
import { ContactField, ContactFieldChange, ContactFieldValue } from './contacts/contact-field.ts'
import { Contact } from './contacts/contact.ts'
import { RemovedContact } from './contacts/removed-contact.ts'
import { Domain } from './domains/domain.ts'
import { Attachment } from './emails/attachment.ts'
import { Attempt } from './emails/attempt.ts'
import { Email } from './emails/email.ts'
import { Engagement } from './emails/engagement.ts'
import { MailboxMessage } from './emails/mailbox-message.ts'
import { QueuedSend } from './emails/queued-send.ts'
import { ScheduledSend } from './emails/scheduled-send.ts'
import { EventCount, EventTally } from './events/event-tally.ts'
import { Event } from './events/event.ts'
import { ExecutionStep } from './executions/execution-step.ts'
import { Execution } from './executions/execution.ts'
import { IdempotencyKey } from './idempotency-key.ts'
import { ImportChange } from './imports/import-change.ts'
import { ImportChunk } from './imports/import-chunk.ts'
import { ImportFile } from './imports/import-file.ts'
import { RestoredContact } from './imports/restored-contact.ts'
import { JobContacts } from './jobs/job-contacts.ts'
import { JobError } from './jobs/job-error.ts'
import { Job } from './jobs/job.ts'
import { Outbox } from './outbox/outbox.ts'
import { paceReading } from './paced-reading.ts'
import { AuditEntry } from './projects/audit-entry.ts'
import { Invitation } from './projects/invitation.ts'
import { Membership } from './projects/membership.ts'
import { Project } from './projects/project.ts'
import { WebhookSecret } from './projects/webhook-secret.ts'
import { ProviderState } from './provider-state.ts'
import { ProviderEvent } from './reputation/provider-event.ts'
import { Suppression } from './reputation/suppression.ts'
import { ReputationCount, ReputationTally, Suspension } from './reputation/suspension.ts'
import { RuleFile } from './rule-file.ts'
import { ExtendedSchemaGenerator } from './schema-generator.ts'
import { RemovedSegment } from './segments/removed-segment.ts'
import { SegmentMember, SegmentTally } from './segments/segment-member.ts'
import { Segment } from './segments/segment.ts'
import { Template } from './templates/template.ts'
import { Throttle } from './throttle.ts'
import { WebhookBatch } from './webhooks/webhook-batch.ts'
import { WebhookDelivery } from './webhooks/webhook-delivery.ts'
import { WebhookEndpoint } from './webhooks/webhook-endpoint.ts'
import { WorkerBeat } from './worker-heartbeat.ts'

export default defineConfig({
	clientUrl: process.env['DATABASE_URL'] ?? 'postgresql://postgres:postgres@localhost:5432/tempost',
	entities: [
		AccountToken,
		Attachment,
		Attempt,
		AudiencePage,
		AuditEntry,
		Automation,
		AutomationEventName,
		AutomationStep,
		AutomationTransition,
		AutomationVersion,
		BillingAccount,
		Campaign,
		CampaignCount,
		CampaignSlot,
		CampaignTally,
		Contact,
		ContactField,
		ContactFieldChange,
		ContactFieldValue,
		Domain,
		Email,
		Engagement,
		Enrolment,
		Event,
		EventCount,
		EventTally,
		Execution,
		ExecutionStep,
		FeedEntry,
		IdempotencyKey,
		ImportChange,
		ImportChunk,
		ImportFile,
		Invitation,
		Job,
		JobContacts,
		JobError,
		MailCount,
		MailTally,
		MailboxMessage,
		Membership,
		OAuthIdentity,
		Outbox,
		Project,
		ProviderEvent,
		ProviderState,
		QueuedSend,
		ScheduledSend,
		RemovedAutomation,
		RemovedContact,
		RemovedSegment,
		ReputationCount,
		ReputationTally,
		RequestBudget,
		RestoredContact,
		RuleFile,
		Segment,
		SegmentMember,
		SegmentTally,
		SendBudget,
		Session,
		Suppression,
		Suspension,
		Template,
		Throttle,
		UsageCount,
		UsageNotice,
		UsageReport,
		UsageTally,
		User,
		WebhookBatch,
		WebhookDelivery,
		WebhookEndpoint,
		WebhookSecret,
		WorkerBeat,
	],
	extensions: [Migrator, ExtendedSchemaGenerator],
	// Functions and triggers are in the files of db/rules.ts.
	schemaGenerator: { ignoreRoutines: true, ignoreTriggers: true },
	migrations: { path: `${import.meta.dirname}/migrations`, snapshot: false },
	driverOptions: {
		onPoolCreated: paceReading,
		...connecting(),
	},
	logger: () => {},
})
