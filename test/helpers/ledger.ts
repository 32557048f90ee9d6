import { randomUUID } from 'node:crypto'
import type { MikroORM } from '@mikro-orm/postgresql'
import { MockActivityEnvironment } from '@temporalio/testing'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { deliveryActivities } from '../../activities/delivery/deliveries.ts'
import { deliverMails } from '../../activities/delivery/claim-source.ts'
import type { DeliveryServices, Rest } from '../../activities/delivery/delivery.ts'
import { createDkimKeys } from '../../activities/delivery/dkim-keys.ts'
import { createGate } from '../../activities/delivery/gate.ts'
import { createRecords } from '../../activities/delivery/recorder.ts'
import { createLargeMails } from '../../activities/delivery/large-mails.ts'
import { createProviderPause } from '../../activities/delivery/provider-pause.ts'
import type { Outcome, Provider } from '../../outside/providers/provider.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import type { Message } from '../../mail/message.ts'
import { trackingKey } from '../../mail/tracked-urls.ts'
import { sendContexts } from '../../db/emails/acceptance-contexts.ts'
import { acceptSend } from '../../db/emails/acceptance.ts'
import { Domain } from '../../db/domains/domain.ts'
import { Email } from '../../db/emails/email.ts'
import { finishClaim, mailsOfClaim } from '../../db/emails/ledger.ts'
import { claimSends, type OutboxRow } from '../../db/outbox/claims.ts'
import { newKeys } from '../../db/projects/project-keys.ts'
import { Project } from '../../db/projects/project.ts'
import { poolOf } from '../../db/statement.ts'
import { setupDatabase } from './database.ts'

export const sealingSecret = 'a secret of the tests'

/** A ledger in its own database, and a provider that follows a script. */
export async function setupLedger(t: ExecutionContext, settings: Partial<Settings> = {}) {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const project = await newProject(orm, 'example.com')

	return {
		orm,
		pool,
		project,
		newProject: () => newProject(orm),
		/** Accepts a request as the API does, and returns its mails' ids. */
		send: (recipients: string[], projectId = project.id) => accept(orm, projectId, recipients),
		claim: () => claim(pool),
		/** A separate worker: several share only the ledger. */
		worker: (provider: Provider) => worker(orm, provider, settings),
		mail: (id: string) =>
			orm.em.fork().findOneOrFail(Email, { projectId: project.id, id }, { strict: true }),
		attempts: async (id: string) =>
			(
				await orm.em
					.fork()
					.execute<{ outcome: string }[]>(
						'select outcome from attempts where email_id = ? order by attempt',
						[id],
					)
			).map(({ outcome }) => outcome),
		execute: <T = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
			orm.em.fork().execute<T[]>(sql, values),
	}
}

type Settings = DeliveryServices['settings']

/** Claims what the relay would claim at once. */
export const claim = (pool: Pool) =>
	claimSends(pool, {
		requestsPerRun: 500,
		mailsPerRun: 2000,
		newRunsPerProject: 2,
		lockSeconds: 60,
		taskQueue: 'core',
		runsPerProject: 8,
	})

/** The services of a separate worker: several share only the ledger. */
export function deliveryServices(pool: Pool, provider: Provider, settings: Partial<Settings>) {
	const stopping = new AbortController()
	const services: DeliveryServices = {
		pool,
		provider,
		gate: createGate(provider.concurrency),
		record: createRecords(pool),
		inHand: new Set(),
		largeMails: createLargeMails(),
		pause: createProviderPause(),
		dkimKeys: createDkimKeys(pool, sealingSecret),
		stopping: stopping.signal,
		settings: {
			publicUrl: 'http://localhost:3000',
			sendRatePerSecond: 0,
			uncertainAfterMs: 600_000,
			patienceMs: 3 * 24 * 3_600_000,
			trackingKey: trackingKey(sealingSecret),
			...settings,
		},
	}
	return { services, stop: () => stopping.abort() }
}

async function worker(orm: MikroORM, provider: Provider, settings: Partial<Settings>) {
	const pool = await poolOf(orm.em)
	const { services, stop } = deliveryServices(pool, provider, settings)
	const activities = deliveryActivities({
		...services,
		relay: { wakeSends: () => {} },
		workerId: 'worker',
		firstPasses: new Map(),
	})
	return {
		stop,
		pass: (claimId: string) =>
			deliverMails(services, () =>
				mailsOfClaim(pool, { claimId, provider: services.provider.name }),
			),
		/** As called by its workflow. */
		deliverClaim: (claimId: string) =>
			new MockActivityEnvironment().run(activities.deliverClaim, claimId) as Promise<Rest>,
		deliverClaimAtOnce: activities.deliverClaimAtOnce,
		finish: async (claimId: string) => (await finishClaim(pool, { claimId }))[0]!.finished,
	}
}

/** With a domain that it has proved. */
async function newProject(orm: MikroORM, domain = `${randomUUID()}.example.com`) {
	const em = orm.em.fork()
	const project = em.create(Project, { name: 'Test', ...newKeys().columns })
	await em.flush()
	em.create(Domain, { projectId: project.id, domain, verifiedAt: new Date() })
	await em.flush()
	return project
}

async function accept(orm: MikroORM, projectId: string, recipients: string[]) {
	const pool = await poolOf(orm.em)
	const { domain } = await orm.em.fork().findOneOrFail(Domain, { projectId })
	const addresses = [...new Set(recipients)]
	const wanted = 1 + addresses.length + recipients.length
	const [context] = await sendContexts(pool, {
		projectId,
		requests: [{ templateId: null, domain, emails: addresses, subscribes: false, idCount: wanted }],
	})
	const [requestId, ...ids] = context!.ids
	const known = new Map(context!.contacts.map(({ email, id }) => [email, id]))
	const contacts = addresses.map((email) => ({
		id: known.get(email) ?? ids.shift()!,
		email,
		name: null,
		change: { data: {}, removedKeys: [], subscribed: null },
		isNew: !known.has(email),
		isChanged: false,
	}))
	const mails = recipients.map((to) => ({
		id: ids.shift()!,
		contactId: contacts.find(({ email }) => email === to)!.id,
		to,
		toName: null,
		from: `app@${domain}`,
		fromName: 'App',
		replyTo: null,
		subject: `To ${to}`,
		body: '<p>Hello</p>',
		text: null,
		headers: {},
		language: 'en',
		type: 'TRANSACTIONAL',
		templateId: null,
		attachments: null,
		renderFault: null,
	}))
	await acceptSend(pool, {
		projectId,
		contacts,
		messages: [
			{
				requestId: requestId!,
				scheduledFor: null,
				needsConsent: false,
				throttleKey: null,
				mails,
				files: [],
			},
		],
		key: null,
		claimId: null,
		response: null,
		trace: null,
	})
	return mails.map(({ id }) => id)
}

export const claimOf = (row: OutboxRow | undefined) => (row!.payload as { claimId: string }).claimId

/** A provider that gives each mail the script's answer, SENT by default. */
export function scriptedProvider(
	script: (message: Message, earlier: number) => Outcome | Promise<Outcome> | void = () => {},
	options: Partial<Provider> = {},
) {
	const handed: { to: string; emailId: string; at: number; dkim: DkimKey | undefined }[] = []
	const provider: Provider = {
		name: 'smtp',
		idempotent: false,
		concurrency: 20,
		async deliver(message, dkim) {
			const earlier = handed.filter(({ emailId }) => emailId === message.emailId).length
			handed.push({ to: message.to.email, emailId: message.emailId, at: Date.now(), dkim })
			return (await script(message, earlier)) ?? { kind: 'SENT', providerMessageId: 'q1' }
		},
		encoding: 'mime',
		deliverEncoded: () => Promise.reject(new Error('Scripts have no large mails')),
		close: async () => {},
		...options,
	}
	return { provider, handed, order: () => handed.map(({ to }) => to) }
}
