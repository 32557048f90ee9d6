import { Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	type Email as EmailRow,
	emailStatuses,
	type MailCopy,
	sourceTypes,
} from '../../db/emails/email.ts'
import { type MailRecord, mailRecords } from '../../db/emails/mail-records.ts'
import { notFound } from '../errors.ts'
import { about, Component, Id, Nullable, Timestamp } from '../schemas.ts'
import { type Content, contentOf } from './mail-contents.ts'

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
	templateId: about('The template may have been deleted since.', Nullable(Id)),
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

/** A mail with its content. */
export async function wholeOf(
	{ pool, publicUrl }: EmailRoutes,
	email: Pick<EmailRow, 'projectId' | 'id' | 'body'>,
) {
	const { projectId, id } = email
	const [record] = await mailRecords(pool, { projectId, ids: [id] })
	if (!record) throw notFound('email', id)
	return viewOf(record, await contentOf({ pool, publicUrl, projectId }, email))
}

export function viewOf(
	record: MailRecord,
	{ subject, body }: Content = { subject: null, body: null },
): Type.Static<typeof Email> {
	const { id, from, sourceType, copies, headers, tags, attachments } = record
	return Object.assign(record, {
		subject: subject ?? record.subject,
		body,
		cc: copiesOf(copies, 'cc'),
		bcc: copiesOf(copies, 'bcc'),
		headers: headers ?? {},
		tags: tags ?? [],
		attachments: attachments ?? [],
		messageId:
			sourceType === 'INBOUND'
				? (headers?.['Message-ID'] ?? null) // its sender's, if it had one
				: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
	})
}

const copiesOf = (copies: MailCopy[] | null, kind: MailCopy['kind']) =>
	(copies ?? []).flatMap(({ email, name, error, ...copy }) =>
		copy.kind === kind ? { email, name, error } : [],
	)
