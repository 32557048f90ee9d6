import { Migrator } from '@mikro-orm/migrations'
import { defineConfig } from '@mikro-orm/postgresql'
import { AccountToken } from './account-token.ts'
import { Attachment } from './attachment.ts'
import { Attempt } from './attempt.ts'
import { AuditEntry } from './audit-entry.ts'
import { AutomationStep } from './automation-step.ts'
import { AutomationTransition } from './automation-transition.ts'
import { AutomationEventName, AutomationVersion } from './automation-version.ts'
import { Automation } from './automation.ts'
import { BillingAccount } from './billing-account.ts'
import { RateBudget, SendBudget } from './budget.ts'
import { CampaignCount, CampaignTally } from './campaign-count.ts'
import { Campaign } from './campaign.ts'
import { ContactField, ContactFieldChange, ContactFieldValue } from './contact-field.ts'
import { Contact } from './contact.ts'
import { Domain } from './domain.ts'
import { Email } from './email.ts'
import { Engagement } from './engagement.ts'
import { EventCount, EventTally } from './event-tally.ts'
import { Event } from './event.ts'
import { ExecutionStep } from './execution-step.ts'
import { Execution } from './execution.ts'
import { FeedEntry } from './feed-entry.ts'
import { IdempotencyKey } from './idempotency-key.ts'
import { ImportChange } from './import-change.ts'
import { ImportChunk } from './import-chunk.ts'
import { ImportFile } from './import-file.ts'
import { Invitation } from './invitation.ts'
import { JobContacts } from './job-contacts.ts'
import { JobError } from './job-error.ts'
import { Job } from './job.ts'
import { MailCount, MailTally } from './mail-count.ts'
import { MailboxMessage } from './mailbox-message.ts'
import { Membership } from './membership.ts'
import { OAuthIdentity } from './oauth-identity.ts'
import { Outbox } from './outbox.ts'
import { Project } from './project.ts'
import { ProviderEvent } from './provider-event.ts'
import { QueuedSend } from './queued-send.ts'
import { ForeignKeyBlindSchemaGenerator } from './schema-generator.ts'
import { SegmentMember, SegmentTally } from './segment-member.ts'
import { Segment } from './segment.ts'
import { Session } from './session.ts'
import { Suppression } from './suppression.ts'
import { ReputationCount, ReputationTally, Suspension } from './suspension.ts'
import { Template } from './template.ts'
import { Throttle } from './throttle.ts'
import { UsageCount, UsageTally } from './usage-count.ts'
import { UsageNotice } from './usage-notice.ts'
import { UsageReport } from './usage-report.ts'
import { User } from './user.ts'
import { WebhookSecret } from './webhook-secret.ts'
import { WorkerBeat } from './worker-beat.ts'

export default defineConfig({
	clientUrl: process.env['DATABASE_URL'] ?? 'postgresql://postgres:postgres@localhost:5432/tempost',
	entities: [
		AccountToken,
		Attachment,
		Attempt,
		AuditEntry,
		Automation,
		AutomationEventName,
		AutomationStep,
		AutomationTransition,
		AutomationVersion,
		BillingAccount,
		Campaign,
		CampaignCount,
		CampaignTally,
		Contact,
		ContactField,
		ContactFieldChange,
		ContactFieldValue,
		Domain,
		Email,
		Engagement,
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
		QueuedSend,
		RateBudget,
		ReputationCount,
		ReputationTally,
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
		WebhookSecret,
		WorkerBeat,
	],
	extensions: [Migrator, ForeignKeyBlindSchemaGenerator],
	migrations: { path: `${import.meta.dirname}/migrations`, snapshot: false },
	logger: () => {},
})
