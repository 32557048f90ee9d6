import { generateKeyPairSync, randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { Pool, QueryConfig } from 'pg'
import PostalMime from 'postal-mime'
import { mailboxOf } from '../activities/delivery/mailbox.ts'
import { deliverMails } from '../activities/delivery/claim-source.ts'
import { eraseContact } from '../db/contacts/contact-erasing.ts'
import { mailsOfClaim } from '../db/emails/ledger.ts'
import { seal } from '../db/domains/seal.ts'
import { inChunk } from '../db/transaction.ts'
import { localProvider } from '../outside/providers/local.ts'
import type { Provider } from '../outside/providers/provider.ts'
import { resendProvider } from '../outside/providers/resend.ts'
import { verifyDkim } from './helpers/dkim.ts'
import {
	claim,
	claimOf,
	deliveryServices,
	scriptedProvider,
	sealingSecret,
} from './helpers/ledger.ts'
import { resendFake } from './helpers/resend-fake.ts'
import { setupSend } from './helpers/send.ts'
import { setupSmtp } from './helpers/smtp.ts'

const megabyte = 2 ** 20
const content = randomBytes(1.2 * megabyte)
const body = `<p>Größe</p>${'<p>Hello</p>\n'.repeat(megabyte / 12)}`

interface Changes {
	/** For the connections of threads. */
	options?: object
	/** Runs after a statement of the worker. */
	after?(statement: string, stop: () => void): unknown
}

function pass(pool: Pool, provider: Provider, claimId: string, { options, after }: Changes) {
	const changed = {
		// pg hides the password from copies.
		options: Object.assign(Object.create(pool.options), options),
		async query(query: QueryConfig) {
			const result = await pool.query(query)
			await after?.(query.name!, stop)
			return result
		},
	}
	const { services, stop } = deliveryServices(changed as unknown as Pool, provider, {})
	return deliverMails(services, () => mailsOfClaim(pool, { claimId, provider: provider.name }))
}

/** A project with a large mail to send. */
async function setupLarge(t: ExecutionContext) {
	t.timeout(120_000)
	const all = await setupSend(t)
	await all.pool.query('update projects set owner_verified = true')
	const mail = await all.sent({
		body,
		attachments: [
			{
				filename: 'a.bin',
				contentType: 'application/octet-stream',
				content: content.toString('base64'),
			},
		],
	})
	const claimId = claimOf((await claim(all.pool))[0])
	return {
		...all,
		mail,
		deliver: (provider: Provider, changes: Changes = {}) =>
			pass(all.pool, provider, claimId, changes),
		row: async () => {
			const { rows } = await all.pool.query('select * from emails where id = $1', [mail.id])
			return rows[0] as object
		},
		outcomes: async () => {
			const { rows } = await all.pool.query('select outcome, error from attempts order by attempt')
			return rows
		},
	}
}

async function isWhole(t: ExecutionContext, raw: string | Buffer) {
	const { html, text, attachments } = await PostalMime.parse(raw)
	t.true(html!.replaceAll('\r\n', '\n').includes(body))
	t.is(text!.split('Hello').length, body.split('Hello').length)
	t.deepEqual(
		attachments.map((file) => Buffer.from(file.content as ArrayBuffer).equals(content)),
		[true],
	)
}

test('a large mail arrives whole and signed over SMTP', async (t) => {
	const { mail, pool, deliver, row } = await setupLarge(t)
	const { privateKey, publicKey } = generateKeyPairSync('rsa', {
		modulusLength: 2048,
		publicKeyEncoding: { type: 'spki', format: 'pem' },
		privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
	})
	await pool.query(`update domains set dkim_selector = 'tempost', dkim_private_key = $1`, [
		seal(Buffer.from(privateKey), sealingSecret),
	])
	const { sink, provider } = await setupSmtp(t)
	t.like(await deliver(provider), { left: 0 })
	t.like(await row(), { status: 'SENT' })
	const [{ raw, from, to, emailId }] = sink.mails as [(typeof sink.mails)[0]]
	t.deepEqual({ from, to, emailId }, { from: mail.from, to: mail.to, emailId: mail.id })
	t.true(verifyDkim(raw, publicKey).isValid)
	await isWhole(t, raw)
})

test('a large mail reaches the local mailbox whole', async (t) => {
	const { pool, deliver, mail } = await setupLarge(t)
	t.like(await deliver(localProvider({ store: mailboxOf(pool) })), { left: 0 })
	const { rows } = await pool.query('select * from mailbox_messages')
	const { email_id: emailId, from, to, subject } = rows[0]
	t.deepEqual([emailId, from, to, subject], [mail.id, mail.from, mail.to, mail.subject])
	await isWhole(t, rows[0].raw)
})

test('a large mail that Resend took without an answer is repeated with the same bytes', async (t) => {
	const { deliver, row, outcomes } = await setupLarge(t)
	const fake = await resendFake()
	const provider = resendProvider({ apiKey: fake.apiKey, baseUrl: fake.url })
	t.teardown(async () => {
		await provider.close()
		await fake.close()
	})
	fake.faults.push({ drop: true, take: true, times: 1 })
	t.like(await deliver(provider), { left: 0 })
	t.like(await row(), { status: 'SENT' })
	t.is(fake.requests.length, 2)
	t.is(fake.accepted.length, 1)
	const { html, attachments } = fake.accepted[0]!.mail
	t.true(html!.includes(body))
	t.is(attachments![0]!.content, content.toString('base64'))
	t.deepEqual(
		(await outcomes()).map(({ outcome }) => outcome),
		['UNKNOWN', 'SENT'],
	)
})

test('a large mail whose thread reaches no database is deferred, and then sent', async (t) => {
	const { pool, deliver, row, outcomes } = await setupLarge(t)
	const { sink, provider } = await setupSmtp(t)
	const first = await deliver(provider, {
		options: { connectionString: 'postgresql://127.0.0.1:1/nowhere' },
		after: (statement, stop) => statement === 'record-unsent' && stop(),
	})
	t.like(first, { left: 1 })
	t.like(await row(), { status: 'PENDING' })
	await pool.query('update emails set due_at = now()')
	t.like(await deliver(provider), { left: 0 })
	t.like(await row(), { status: 'SENT' })
	t.is(sink.mails.length, 1)
	t.deepEqual(await outcomes(), [
		{
			outcome: 'DEFERRED',
			error: 'The mail could not be loaded: connect ECONNREFUSED 127.0.0.1:1',
		},
		{ outcome: 'SENT', error: null },
	])
})

test('a large mail that is erased before its thread loads it is not sent', async (t) => {
	const { pool, deliver, row, mail, project } = await setupLarge(t)
	const { sink, provider } = await setupSmtp(t)
	const erase = () => inChunk(pool, (db) => eraseContact(db, project.id, String(mail.contactId)))
	const after = (statement: string) => statement === 'open' && erase()
	t.like(await deliver(provider, { after }), { left: 0 })
	t.like(await row(), { status: 'CANCELLED', error: 'The contact was erased' })
	t.is(sink.mails.length, 0)
})

test('a large mail that cannot be composed fails with the reason', async (t) => {
	const { pool, deliver, row } = await setupLarge(t)
	const { sink, provider } = await setupSmtp(t)
	await pool.query(`update emails set headers = '{"X-Note": "one\\r\\nBcc: eve@example.org"}'`)
	t.like(await deliver(provider), { left: 0 })
	t.like(await row(), {
		status: 'FAILED',
		error: 'The mail could not be composed: X-Note must not contain line breaks or NUL',
	})
	t.is(sink.mails.length, 0)
})

test('a project has at most three large mails under way, and all projects four', async (t) => {
	const { pool, sent, send, newProject } = await setupSend(t)
	const other = await newProject('other.example')
	await pool.query('update projects set owner_verified = true')
	for (let count = 0; count < 5; count++) await sent({ body })
	await send({ body, from: 'app@other.example' }, other.withSecretKey)

	const full = Promise.withResolvers<void>()
	const end = Promise.withResolvers<void>()
	const handed: string[] = []
	const { provider } = scriptedProvider(undefined, {
		async deliverEncoded({ projectId }) {
			handed.push(projectId)
			if (handed.length === 4) full.resolve()
			await end.promise
			return { kind: 'SENT', providerMessageId: null }
		},
	})
	const { services } = deliveryServices(pool, provider, {})
	const claims = (await claim(pool)).map(claimOf)
	const passes = claims.map((claimId) =>
		deliverMails(services, () => mailsOfClaim(pool, { claimId, provider: 'smtp' })),
	)
	await full.promise
	t.is(handed.filter((project) => project === other.project.id).length, 1)
	const statuses = async () =>
		(await pool.query('select status, count(*)::int from emails group by 1 order by 1')).rows
	t.deepEqual(await statuses(), [
		{ status: 'PENDING', count: 2 },
		{ status: 'SENDING', count: 4 },
	])
	end.resolve()
	await Promise.all(passes)
	t.deepEqual(await statuses(), [{ status: 'SENT', count: 6 }])
})
