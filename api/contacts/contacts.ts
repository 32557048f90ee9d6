import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { dataProblems, splitData } from '../../db/contacts/contact-data.ts'
import { findAddresses, findContact } from '../../db/contacts/contact-list.ts'
import { eraseContact } from '../../db/contacts/contact-erasing.ts'
import {
	deleteContacts,
	patchContact,
	upsertContact,
	type WrittenContact,
} from '../../db/contacts/contact-writing.ts'
import { inChunk } from '../../db/transaction.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import {
	about,
	Body,
	Component,
	Email,
	Extended,
	Id,
	isEmail,
	Json,
	normalizeEmail,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'

export const Contact = Component('Contact', {
	id: Id,
	email: Type.String(),
	subscribed: Type.Boolean(),
	data: Json,
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

const Upserted = Extended('UpsertedContact', [Contact], {
	_meta: Type.Object({ isNew: Type.Boolean(), isUpdate: Type.Boolean() }),
})

const Data = Type.Record(Type.String(), Type.Unknown(), {
	description:
		'A null deletes a field, an empty string is ignored, { value, persistent: false } is not stored',
})

const tags = ['contacts']
const Params = Type.Object({ id: PathId('contact') })
const tries = 5

export const contacts: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/contacts',
		{
			config: {
				auth: 'secret key or session',
				simpleErrors: { email: ['required'] },
				errors: [400],
			},
			schema: {
				tags,
				summary: 'Create a contact, or update the one with this address',
				description:
					'The status is 201 for a new contact and 200 for an existing one. Data that you leave out stays as it is.',
				body: Type.Object(
					{
						email: about('The address. It identifies the contact.', Email),
						subscribed: Type.Optional(
							Type.Boolean({
								description: 'By default true for a new contact, and unchanged for an existing one',
							}),
						),
						data: Type.Optional(Data),
					},
					{ examples: [{ email: 'bob@example.org', data: { name: 'Bob', plan: 'pro' } }] },
				),
				response: { 200: Upserted, 201: Upserted },
			},
		},
		async ({ project, body }, reply) => {
			const { stored, removed } = checkedData(body.data ?? {})
			const values = {
				projectId: project.id,
				email: normalizeEmail(body.email),
				subscribed: body.subscribed ?? null,
				data: stored,
				removedKeys: removed,
			}
			for (let attempt = 1; attempt <= tries; attempt++) {
				const [contact] = await upsertContact(pool, values)
				if (!contact) continue
				const { isNew } = fitting(contact)
				const _meta = { isNew, isUpdate: !isNew }
				return reply.code(isNew ? 201 : 200).send({ ...contact, _meta })
			}
			throw contended()
		},
	)

	app.get(
		'/contacts/:id',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags,
				summary: 'Get a contact',
				description: 'Includes all custom data. A contact of another project is a 404.',
				params: Params,
				response: { 200: Contact },
			},
		},
		async ({ project, params }) => {
			const [contact] = await findContact(pool, { projectId: project.id, contactId: params.id })
			if (!contact) throw notFound('contact', params.id)
			return contact
		},
	)

	app.patch(
		'/contacts/:id',
		{
			config: { auth: 'secret key or session', errors: [409] },
			schema: {
				tags,
				summary: 'Update a contact',
				description:
					'Members that you leave out stay as they are. Changing `subscribed` creates the matching event.',
				params: Params,
				body: Body(
					{ subscribed: true, data: { plan: 'pro', trial: null } },
					{
						email: Type.Optional(about('The new address. Another contact may not have it.', Email)),
						subscribed: Type.Optional(
							Type.Boolean({
								description:
									'A change creates the event contact.subscribed or contact.unsubscribed.',
							}),
						),
						data: Type.Optional(
							about(
								'Members that you leave out stay as they are. A null deletes a field, and an empty string is ignored.',
								Nullable(Data),
							),
						),
					},
				),
				response: { 200: Contact },
			},
		},
		async ({ project, params, body }) => {
			const { stored, removed } = checkedData(body.data ?? {})
			const email = body.email === undefined ? null : normalizeEmail(body.email)
			if (email !== null) await checkAddress(project.id, params.id, email)
			const [contact] = await patchContact(pool, {
				projectId: project.id,
				contactId: params.id,
				email,
				subscribed: body.subscribed ?? null,
				data: stored,
				removedKeys: removed,
				replacesData: body.data === null,
			}).catch(async (error: { code?: string }) => {
				if (error.code !== '23505') throw error
				await checkAddress(project.id, params.id, email!)
				throw taken(email!)
			})
			if (!contact) throw notFound('contact', params.id)
			return fitting(contact)
		},
	)

	app.delete(
		'/contacts/:id',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags,
				summary: 'Delete a contact',
				description:
					'Its mails and events stay, and the mails keep their address. With erase=true the person is removed from everything that is kept: mails, events, executions, job records and the suppression list. So a later import can add the address again, and an import that is running still adds its rows.',
				params: Params,
				querystring: Type.Object({
					erase: Type.Boolean({
						default: false,
						description: 'Remove the address and the data from its mails, too.',
					}),
				}),
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params, query }, reply) => {
			const isDeleted = await inChunk(pool, async (db) =>
				query.erase
					? eraseContact(db, project.id, params.id)
					: (await deleteContacts(db, { projectId: project.id, contactIds: [params.id] })).length >
						0,
			)
			if (!isDeleted) throw notFound('contact', params.id)
			return reply.code(204).send(null)
		},
	)

	app.post(
		'/contacts/lookup',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags,
				summary: 'Look up which addresses belong to contacts',
				description: 'Texts that are not email addresses are returned under notFound.',
				body: Body(
					{ emails: ['ann@example.org'] },
					{
						emails: Type.Array(Type.String(), {
							minItems: 1,
							maxItems: 500,
							description: 'The addresses to look up, at most 500.',
						}),
					},
				),
				response: {
					200: Type.Object({
						found: Type.Array(Type.String()),
						notFound: Type.Array(Type.String()),
					}),
				},
			},
		},
		async ({ project, body: { emails } }) => {
			const normal = new Map(emails.filter(isEmail).map((email) => [email, normalizeEmail(email)]))
			const rows = await findAddresses(pool, {
				projectId: project.id,
				emails: [...normal.values()],
			})
			const known = new Set(rows.map(({ email }) => email))
			const isFound = (email: string) => known.has(normal.get(email) ?? '')
			return { found: emails.filter(isFound), notFound: emails.filter((e) => !isFound(e)) }
		},
	)

	/** Checked in advance, because Postgres logs each violated constraint with the address in its details. */
	async function checkAddress(projectId: string, id: string, email: string) {
		const [other] = await findAddresses(pool, { projectId, emails: [email] })
		if (!other || other.id === id.toLowerCase()) return
		const [contact] = await findContact(pool, { projectId, contactId: id })
		throw contact ? taken(email, other.id) : notFound('contact', id)
	}
}

function checkedData(data: Record<string, unknown>) {
	const problems = dataProblems(data)
	if (problems.length > 0) throw invalid(...problems)
	return splitData(data)
}

function fitting(contact: WrittenContact) {
	if (contact.fits) return contact
	throw invalid({
		field: 'data',
		message: 'must be at most 64 KB in total, with what the contact already has',
		code: 'too_big',
	})
}

const taken = (email: string, contactId?: string) =>
	new ApiError(409, 'CONFLICT', 'Another contact has this email address', {
		details: { email, contactId },
		suggestion: 'Update that contact, or delete it first.',
	})

/** Others created and deleted the contact repeatedly between our attempts. */
const contended = () =>
	new ApiError(409, 'CONFLICT', 'Too many requests are changing this contact at once', {
		suggestion: 'Send the request again.',
	})
