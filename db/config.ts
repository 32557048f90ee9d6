import { Migrator } from '@mikro-orm/migrations'
import { defineConfig } from '@mikro-orm/postgresql'
import { Attachment } from './attachment.ts'
import { Attempt } from './attempt.ts'
import { RateBudget, SendBudget } from './budget.ts'
import { Contact } from './contact.ts'
import { Domain } from './domain.ts'
import { Email } from './email.ts'
import { Event } from './event.ts'
import { IdempotencyKey } from './idempotency-key.ts'
import { MailboxMessage } from './mailbox-message.ts'
import { Membership } from './membership.ts'
import { Outbox } from './outbox.ts'
import { Project } from './project.ts'
import { ForeignKeyBlindSchemaGenerator } from './schema-generator.ts'
import { Suppression } from './suppression.ts'
import { Template } from './template.ts'
import { User } from './user.ts'

export default defineConfig({
	clientUrl: process.env['DATABASE_URL'] ?? 'postgresql://postgres:postgres@localhost:5432/tempost',
	entities: [
		...[User, Project, Membership, Domain],
		...[Contact, Suppression, Template, Event],
		...[Email, Attempt, Attachment, MailboxMessage],
		...[Outbox, IdempotencyKey, RateBudget, SendBudget],
	],
	extensions: [Migrator, ForeignKeyBlindSchemaGenerator],
	migrations: { path: `${import.meta.dirname}/migrations`, snapshot: false },
	logger: () => {},
})
