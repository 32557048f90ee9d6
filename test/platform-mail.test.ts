import test from 'ava'
import type { PoolClient } from 'pg'
import PostalMime from 'postal-mime'
import type { Message } from '../mail/message.ts'
import { buildMime } from '../mail/mime/mime.ts'
import { spokenWords } from '../mail/platform/languages.ts'
import { renderPlatformMail } from '../mail/platform/mail.ts'
import type { PlatformMailData } from '../mail/platform/words.ts'
import {
	type PlatformMail,
	platformProjectId,
	queuePlatformMails,
} from '../db/emails/platform-mail.ts'
import { transaction } from '../db/transaction.ts'
import { setup } from './helpers/app.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

const url = 'https://app.example.com/verify?token=a&b=c'

async function verification(to: string) {
	const mail = await renderPlatformMail('verification', 'de-AT', { url })
	return { from: 'noreply@example.com', to, ...mail }
}

test('a mail of ours is delivered as any other, and only once its transaction commits', async (t) => {
	const { pool, worker, claim } = await setupLedger(t)
	const to = 'anna@example.org'
	const messages: Message[] = []
	const { provider } = scriptedProvider((message) => void messages.push(message))
	const queue = (db: PoolClient, mail: PlatformMail) => queuePlatformMails(db, { mails: [mail] })
	const [lost, anna] = [await verification('lost@example.org'), await verification(to)]
	await t.throwsAsync(
		transaction(pool, async (db) => {
			await queue(db, lost)
			throw new Error('the caller changed its mind')
		}),
	)
	t.deepEqual(await claim(), [])
	await transaction(pool, (db) => queue(db, anna))
	const [run] = await claim()
	t.is(run!.project_id, platformProjectId)
	const one = await worker(provider)
	await one.pass(claimOf(run))
	t.true(await one.finish(claimOf(run)))

	t.is(messages.length, 1)
	const mail = await PostalMime.parse(buildMime(messages[0]!))
	t.deepEqual(mail.from, { address: 'noreply@example.com', name: 'Tempost' })
	t.deepEqual(mail.to, [{ address: to, name: '' }])
	t.is(mail.subject, 'Bestätigen Sie Ihre E-Mail-Adresse')
	t.regex(mail.html!, /<html[^>]* lang="de"/)
	t.true(mail.html!.includes(`href="${url.replace('&', '&amp;')}"`))
	t.true(mail.text!.includes(url), mail.text)
	t.false(mail.headers.some(({ key }) => key.startsWith('list-')))
})

test('many at once are independent of each other', async (t) => {
	const { pool, claim, execute } = await setupLedger(t)
	const addresses = ['a@example.org', 'b@example.org']
	const mails = await Promise.all(addresses.map(verification))
	await queuePlatformMails(pool, { mails })
	const rows = await execute<{ to: string; request_id: string }>(
		'select "to", request_id from emails order by "to"',
	)
	t.deepEqual(
		rows.map(({ to }) => to),
		addresses,
	)
	t.is(new Set(rows.map((row) => row.request_id)).size, 2)
	t.is((await claim()).length, 1)
})

const data = {
	verification: { url },
	passwordReset: { url, isVerified: false },
	invitation: { url, project: 'Ärzte & <b>Co</b>', inviter: 'owner@example.com' },
	memberAdded: { project: 'Ärzte & <b>Co</b>', inviter: 'owner@example.com' },
	accountSecured: { projects: ['Ärzte & <b>Co</b>'], members: ['member@example.com'] },
	suspension: { project: 'Ärzte & <b>Co</b>', reason: 'bounces' },
	domainLost: { project: 'Ärzte & <b>Co</b>', domain: 'example.org', error: 'No <SPF> record.' },
	usageLimit: {
		project: 'Ärzte & <b>Co</b>',
		category: 'total',
		used: 800,
		limit: 1000,
		isReached: false,
	},
	paymentFailed: { project: 'Ärzte & <b>Co</b>' },
	webhookDisabled: {
		project: 'Ärzte & <b>Co</b>',
		endpoint: 'https://example.com/hook',
		reason: 'FAILING',
	},
} satisfies PlatformMailData

for (const language of Object.keys(spokenWords))
	test(`every kind of mail is complete in ${language}`, async (t) => {
		for (const kind of Object.keys(data) as (keyof typeof data)[]) {
			const mail = await renderPlatformMail(kind, `${language}-XX`, data[kind] as never)
			t.is(mail.language, language)
			t.true(mail.subject.length > 10)
			t.notRegex(mail.body, /undefined|\[object|<b>Co/)
			t.is('url' in data[kind], mail.body.includes('<a '))
			if (kind === 'accountSecured') t.true(mail.body.includes('member@example.com'))
			if ('project' in data[kind] || 'projects' in data[kind])
				t.true(mail.body.includes('Ärzte &amp; &lt;b&gt;Co'))
		}
	})

test('an unknown language becomes English, and a subject is one line', async (t) => {
	const mail = await renderPlatformMail('invitation', 'xx', {
		...data.invitation,
		project: 'one\r\nBcc: two',
	})
	t.is(mail.language, 'en')
	t.is(mail.subject, 'Invitation to one Bcc: two')
})

test('a project’s name in a mail of ours is short, no link, and reverses nothing', async (t) => {
	const name =
		'Win at https://evil.example/prize or www.evil。example \u202eelpmaxe.live ' + 'x'.repeat(80)
	for (const kind of ['invitation', 'memberAdded', 'suspension', 'paymentFailed'] as const) {
		const mail = await renderPlatformMail(kind, 'en', { ...data[kind], project: name } as never)
		const text = mail.body
			.replaceAll(url.replace('&', '&amp;'), '')
			.replaceAll('owner@example.com', '')
		for (const shown of [mail.subject, /<body.*/s.exec(text)![0].replaceAll(/<[^>]*>/g, ' ')]) {
			t.notRegex(shown, /:\/\/|evil[.。]example|www[.]\S|\u202e|elpmaxe[.]/, kind)
			t.regex(shown, /Win at https: evil\. example/, kind)
			t.notRegex(shown, /x{10}/, kind)
		}
	}
	const secured = { projects: Array(30).fill(name), members: ['a@example.com'] }
	const mail = await renderPlatformMail('accountSecured', 'en', secured)
	t.notRegex(mail.body, /evil\.example/)
	t.regex(mail.body, /\(\+10\)/)
})

test('no key opens the platform project', async (t) => {
	const { app } = await setup(t)
	for (const key of ['none', 'pk_', 'sk_', 'pk_none', 'sk_none']) {
		const headers = { authorization: `Bearer ${key}` }
		const track = { method: 'POST', url: '/v1/track', headers, payload: {} } as const
		t.is((await app.inject(track)).statusCode, 401)
		t.is((await app.inject({ url: '/contacts', headers })).statusCode, 401)
	}
})
