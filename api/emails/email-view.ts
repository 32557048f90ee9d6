import { Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import {
	type Email as EmailRow,
	emailStatuses,
	type MailCopy,
	sourceTypes,
} from '../../db/emails/email.ts'
import { about, Component, Id, Nullable, Timestamp } from '../schemas.ts'
import { withSenders } from './campaign-senders.ts'
import { bodyOf } from './mail-bodies.ts'

const NullableTime = Nullable(Timestamp)
export const NullableText = Nullable(Type.String())

const Copy = Component('EmailCopy', {
	email: Type.String(),
	name: NullableText,
	error: Nullable(
		Type.String({
			description: 'Why it did not get the mail: a suppression, or the answer of its server.',
		}),
	),
})

export const Email = Component('Email', {
	id: Id,
	projectId: Id,
	contactId: Nullable(Id),
	to: Type.String(),
	toName: NullableText,
	cc: Type.Array(Copy, { description: 'Further readers whom the readers see.' }),
	bcc: Type.Array(Copy, { description: 'Further readers whom the readers do not see.' }),
	from: Type.String(),
	fromName: NullableText,
	replyTo: NullableText,
	subject: Type.String(),
	body: NullableText,
	tags: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
	headers: Type.Record(Type.String(), Type.String()),
	attachments: Type.Array(
		Type.Object({ filename: Type.String(), contentType: Type.String(), size: Type.Integer() }),
	),
	messageId: NullableText,
	sourceType: Type.Enum([...sourceTypes]),
	templateId: Nullable(Id),
	campaignId: Nullable(Id),
	workflowExecutionId: Nullable(Id),
	workflowStepExecutionId: Nullable(Id),
	status: Type.Enum([...emailStatuses]),
	scheduledFor: Nullable(about('When it is or was to be sent, if not at once.', Timestamp)),
	possibleRepeat: Type.Boolean({
		description: 'Sent again although an earlier attempt may have arrived',
	}),
	error: NullableText,
	sentAt: NullableTime,
	deliveredAt: NullableTime,
	openedAt: NullableTime,
	clickedAt: NullableTime,
	bouncedAt: NullableTime,
	complainedAt: NullableTime,
	opens: Type.Integer(),
	clicks: Type.Integer(),
	prefetches: Type.Integer({
		description:
			'Opens and clicks by machines ahead of the reader; not included in the other counts',
	}),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

export interface EmailRoutes {
	pool: Pool
	publicUrl: string
}

/** A mail with its body, and what it leaves to its campaign. */
export async function wholeOf(
	{ pool, publicUrl }: EmailRoutes,
	em: EntityManager,
	email: EmailRow,
) {
	const from = { pool, publicUrl, projectId: email.projectId }
	const [whole] = await withSenders(em, email.projectId, [email])
	return viewOf(whole!, await bodyOf(from, email))
}

export function viewOf(
	email: Omit<EmailRow, symbol | 'body' | 'text' | 'rareStatus'> & { from: string },
	body: string | null,
) {
	const view = Object.assign({}, email, {
		body,
		cc: copiesOf(email, 'cc'),
		bcc: copiesOf(email, 'bcc'),
		headers: email.headers ?? {},
		tags: email.tags ?? [],
		attachments: email.attachments ?? [],
		messageId:
			email.sourceType === 'INBOUND'
				? (email.headers?.['Message-ID'] ?? null) // its sender's, if it had one
				: `<${email.id}@${email.from.slice(email.from.lastIndexOf('@') + 1)}>`,
		error: email.error ?? email.renderFault,
		opens: email.opens ?? 0,
		clicks: email.clicks ?? 0,
		prefetches: email.prefetches ?? 0,
		updatedAt: email.updatedAt ?? email.sentAt ?? email.createdAt,
	})
	// A row that was read has null where the entity's type also allows undefined.
	return view as unknown as Type.Static<typeof Email>
}

const copiesOf = ({ copies }: Pick<EmailRow, 'copies'>, kind: MailCopy['kind']) =>
	(copies ?? []).flatMap(({ email, name, error, ...copy }) =>
		copy.kind === kind ? { email, name, error } : [],
	)
