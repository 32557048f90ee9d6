import type { ExecutionContext } from 'ava'
import type { MikroORM } from '@mikro-orm/postgresql'
import { Contact } from '../../db/contacts/contact.ts'
import { Domain } from '../../db/domains/domain.ts'
import { Email } from '../../db/emails/email.ts'
import { Event } from '../../db/events/event.ts'
import { Template } from '../../db/templates/template.ts'
import { createProject, setup } from './app.ts'

type Options = Parameters<typeof setup>[1]

export interface FieldError {
	field: string
	message: string
	code: string
	received?: unknown
}

/** An API with a project that may send from example.com, and readable tables. */
export const setupSend = async (t: ExecutionContext, options: Options = {}) =>
	sendingFrom(t, await setup(t, options))

/** Lets the project of an API send. */
export async function sendingFrom<All extends Awaited<ReturnType<typeof setup>>>(
	t: ExecutionContext,
	all: All,
) {
	const { app, orm, pool, project } = all
	await verifyDomain(orm, project.id, 'example.com')

	const post = (payload: object | string, headers = all.withSecretKey as object) =>
		app.inject({
			method: 'POST',
			url: '/v1/send',
			headers: { 'content-type': 'application/json', ...headers },
			payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
		})
	/** Sends a complete request with changes; undefined members are left out. */
	const send = (changes: object = {}, headers?: object) =>
		post({ ...complete, ...changes }, headers)
	const mails = () => orm.em.fork().find(Email, {}, { orderBy: { id: 'asc' } })
	return {
		...all,
		post,
		send,
		mails,
		/** Sends a request that must succeed, and returns its first mail. */
		sent: async (changes: object = {}) => {
			const response = await send(changes)
			t.is(response.statusCode, 200, response.body)
			const { email } = response.json().data.emails[0]
			return orm.em.fork().findOneOrFail(Email, { projectId: project.id, id: email })
		},
		/** Sends a request that must be refused, and returns the errors as "field: code". */
		refused: async (changes: object, status = 422) => {
			const response = await send(changes)
			t.is(response.statusCode, status, response.body)
			const { errors = [] } = response.json().error as { errors?: FieldError[] }
			return errors.map(({ field, code }) => `${field}: ${code}`)
		},
		contact: (email: string) => orm.em.fork().findOneOrFail(Contact, { email }, { strict: true }),
		createContact: (email: string, columns: Partial<Contact> = {}) =>
			insert(orm, Contact, { projectId: project.id, email, subscribed: false, ...columns }),
		createTemplate: (columns: Partial<Template> = {}) =>
			insert(orm, Template, { projectId: project.id, ...template, ...columns }),
		events: async () => {
			const events = await orm.em.fork().find(Event, {}, { orderBy: { id: 'asc' } })
			return events.map(({ name }) => name)
		},
		/** The number of rows, which a refused request must not change. */
		written: async () => {
			const { rows } = await pool.query(`select
				(select count(*) from contacts)::int as contacts, (select count(*) from emails)::int as emails,
				(select count(*) from events)::int as events, (select count(*) from attachments)::int as files,
				(select count(*) from queued_sends)::int as queued`)
			return rows[0] as Record<'contacts' | 'emails' | 'events' | 'files' | 'queued', number>
		},
		newProject: async (domain?: string) => {
			const created = await createProject(orm)
			if (domain) await verifyDomain(orm, created.project.id, domain)
			return created
		},
		verify: (domain: string, verifiedAt: Date | null = new Date()) =>
			verifyDomain(orm, project.id, domain, verifiedAt),
	}
}

export const nothing = { contacts: 0, emails: 0, events: 0, files: 0, queued: 0 }

const complete = {
	to: 'anna@example.org',
	from: 'app@example.com',
	subject: 'Hello',
	body: '<p>Hello</p>',
}

const template = {
	name: 'Welcome',
	subject: 'Welcome, {{ name ?? "you" }}',
	body: '<p>Dear {{ name ?? "you" }}</p>',
	from: 'team@example.com',
	type: 'TRANSACTIONAL' as const,
}

/** Lets a project send from a domain. */
export const verifyDomain = (
	orm: MikroORM,
	projectId: string,
	domain: string,
	verifiedAt: Date | null = new Date(),
) => insert(orm, Domain, { projectId, domain, verifiedAt })

async function insert<T extends object>(orm: MikroORM, Entity: new () => T, columns: object) {
	const em = orm.em.fork()
	const row = em.create(Entity, columns as never)
	await em.flush()
	return row
}
