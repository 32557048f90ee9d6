import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { cuttableWay } from './helpers/cuttable-way.ts'
import { json, lines, program, setupCommands } from './helpers/commands.ts'
import { jobRunner } from './helpers/jobs.ts'

const message = {
	to: 'ann@example.org',
	from: 'hello@example.com',
	subject: 'Hello',
	body: '<p>Hi</p>',
}

test('a mail is sent from options, with HTML from standard input, and from JSON', async (t) => {
	const { run, tempost } = await setupCommands(t)
	const { to, from, subject } = message
	const options = ['--to', to, '--to', 'bob@example.org', '--from', from, '--subject', subject]
	const first = await run(['send', ...options, '--body', '-'], '<p>From a pipe</p>')
	t.is(first.code, 0, first.err)
	const [one, other] = json(first.out)['emails'] as { email: string }[]
	t.is((await tempost.emails.get(one!.email)).body, '<p>From a pipe</p>')
	t.is((await tempost.emails.get(other!.email)).to, 'bob@example.org')
	const second = await run(['send', '-'], JSON.stringify(message))
	t.is(second.code, 0, second.err)
	const shown = await run(['emails', 'get', one!.email])
	t.like(json(shown.out), { id: one!.email, to, subject })
})

test('a mail with a copy is scheduled from options, and a list of messages is one batch', async (t) => {
	const { run, tempost } = await setupCommands(t)
	const { to, from, subject } = message
	const at = new Date(Date.now() + 3_600_000).toISOString()
	const options = ['--to', to, '--cc', 'cc@example.org', '--from', from, '--subject', subject]
	const later = await run(['send', ...options, '--text', 'Only text', '--at', at])
	t.is(later.code, 0, later.err)
	const [scheduled] = json(later.out)['emails'] as { email: string }[]
	t.like(await tempost.emails.get(scheduled!.email), {
		status: 'SCHEDULED',
		scheduledFor: at,
		cc: [{ email: 'cc@example.org' }],
	})
	const many = await run(
		['send', '-'],
		JSON.stringify([message, { ...message, to: 'bob@example.org' }]),
	)
	t.is(many.code, 0, many.err)
	const results = json(many.out)['results'] as { emails: { contact: { email: string } }[] }[]
	t.deepEqual(
		results.map(({ emails }) => emails[0]!.contact.email),
		['ann@example.org', 'bob@example.org'],
	)
})

test('the exit code tells a refusal, wrong usage and an absent service apart', async (t) => {
	const { run, env } = await setupCommands(t)
	const refused = await run(
		['send', '-'],
		JSON.stringify({ ...message, to: ['a@example.org', 'b', 'c'] }),
	)
	t.is(refused.code, 1)
	t.regex(
		refused.err,
		/to\.1 must be an email address.*VALIDATION_ERROR[^]*to\.2[^]*Request [\da-f-]{36}/,
	)
	t.is(refused.out, '')
	const wrongKey = ['send', '-', '--idempotency-key', 'заказ']
	t.is((await run(wrongKey, JSON.stringify(message))).code, 1)
	for (const args of [
		[],
		['nonsense'],
		['send'],
		['send', '--nonsense'],
		['emails', 'get'],
		['logs', '--since', '1y'],
	])
		t.is((await run(args)).code, 2, args.join(' '))
	const absent = await run(['emails', 'get', 'x', '--url', 'http://127.0.0.1:1'])
	t.is(absent.code, 3)
	t.regex(absent.err, /cannot be reached/)
	for (const command of [['emails', 'get', 'x'], ['doctor']]) {
		const mistaken = await run([...command, '--url', 'localhost:4000'])
		t.is(mistaken.code, 2)
		t.regex(mistaken.err, /^The address localhost:4000 is not valid. It begins with https:\/\//)
	}
	Object.assign(env, { TEMPOST_SECRET_KEY: '' })
	const withoutKey = await run(['emails', 'get', 'x'])
	t.is(withoutKey.code, 2)
	t.regex(withoutKey.err, /needs the secret key[^]*→ Give it with --key/)
})

test('a word or an option that a command would pass over is refused before anything is done', async (t) => {
	const { run, tempost, pool, home } = await setupCommands(t)
	const { to, from, body } = message
	const sending = ['send', '--to', to, '--from', from, '--body', body, '--subject']
	const unquoted = await run([...sending, 'Your', 'order'])
	t.is(unquoted.code, 2, unquoted.out)
	t.regex(unquoted.err, /order is one word too many/)
	const later = await run(['send', '-', '--at', '2030-01-01T00:00:00Z'], JSON.stringify(message))
	t.is(later.code, 2, later.out)
	t.regex(later.err, /--at has no effect beside -/)
	t.is((await tempost.emails.list()).data.length, 0)
	writeFileSync(join(home, 'one.csv'), 'email\nann@example.org\n')
	const imports = run(['contacts', 'import', 'one.csv', 'other.csv'])
	t.is((await imports).code, 2)
	t.is((await pool.query('select from jobs')).rowCount, 0)
	for (const args of [
		['emails', 'get', 'x', 'y'],
		['logs', 'email.sent'],
		['listen', 'email.sent', '--forward-to', 'http://localhost:1'],
	])
		t.is((await run(args)).code, 2, args.join(' '))
})

test('logs are shown oldest first, and followed without gaps or repetitions', async (t) => {
	const { run, start, tempost } = await setupCommands(t)
	const track = (event: string) => tempost.track({ email: 'ann@example.org', event })
	await track('first')
	await track('second')
	const names = (output: string) =>
		lines(output).map(({ metadata }) => (metadata as { eventName?: string }).eventName)
	const types = ['--types', 'event.triggered']
	t.deepEqual(names((await run(['logs', ...types])).out), ['first', 'second'])
	const { child, printed, ended } = start('logs', '-f', '--since', '1h', ...types)
	t.true(await until(async () => printed.out.includes('second'), 60_000))
	await track('third')
	t.true(await until(async () => printed.out.includes('third'), 60_000))
	await track('fourth')
	t.true(await until(async () => printed.out.includes('fourth'), 60_000))
	child.kill('SIGINT')
	await ended
	t.deepEqual(names(printed.out), ['first', 'second', 'third', 'fourth'])
})

test('an import is followed to its end, and rows that failed are its exit code', async (t) => {
	const { start, pool } = await setupCommands(t)
	const { child, printed, ended } = start('contacts', 'import', '-')
	child.stdin.end('email\nann@example.org\nnobody\n')
	const queued = async () => ((await pool.query('select from jobs')).rowCount ?? 0) > 0
	t.true(await until(queued, 60_000))
	await pool.query(`insert into job_errors (project_id, job_id, row, email, error)
		select project_id, id, 3, 'nobody', 'Not an address' from jobs`)
	await pool.query(`update jobs set state = 'completed', total = 2, position = 1, created_count = 1,
		failed_count = 1, finished_at = now()`)
	t.is(await ended, 1, printed.err)
	t.like(json(printed.out), { state: 'completed', result: { createdCount: 1, failureCount: 1 } })
})

test('an import from a path has the name of its file, with any extension', async (t) => {
	const { start, pool, home } = await setupCommands(t)
	mkdirSync(join(home, 'lists'))
	const files = ['lists/Gäste.csv', 'lists/people.txt']
	for (const [i, file] of files.entries()) {
		writeFileSync(join(home, file), 'email\nann@example.org\n')
		start('contacts', 'import', file)
		const jobs = async () => (await pool.query('select from jobs')).rowCount
		t.true(await until(async () => (await jobs()) === i + 1, 60_000), file)
	}
	const { rows } = await pool.query<{ name: string }>(
		'select file_name as name from jobs order by file_name',
	)
	t.deepEqual(
		rows.map(({ name }) => name),
		['Gäste.csv', 'people.txt'],
	)
})

test('Ctrl-C ends a command that waits for standard input', async (t) => {
	const { start } = await setupCommands(t)
	const sending = ['send', '--to', message.to, '--from', message.from, '--subject', 'Hi']
	for (const args of [
		['send', '-'],
		[...sending, '--body', '-'],
		['contacts', 'import', '-'],
	]) {
		const { child, printed } = start(...args)
		// More than a pipe keeps, so it is read by then.
		await new Promise((written) => child.stdin.write(' '.repeat(2_000_000), written))
		child.kill('SIGINT')
		t.true(
			await until(async () => child.exitCode === 130, 20_000),
			`${args.join(' ')}: ${printed.err}`,
		)
	}
})

test('an import from standard input that is not UTF-8 fails, and damages no names', async (t) => {
	const { start, orm, pool } = await setupCommands(t)
	const { child, printed, ended } = start('contacts', 'import', '-')
	child.stdin.end(Buffer.from('email,name\nzoe@example.org,Zoë\n', 'latin1'))
	const jobs = async () => (await pool.query<{ id: string }>('select id from jobs')).rows
	t.true(await until(async () => (await jobs()).length > 0, 60_000))
	await jobRunner({ orm, pool }).run((await jobs())[0]!.id)
	t.is(await ended, 1, printed.out)
	t.regex(printed.err, /The file is not UTF-8/)
	t.is((await pool.query('select from contacts')).rowCount, 0)
})

/** Runs a command on a terminal of its own, and copies what it shows. */
function startOnTerminal(env: NodeJS.ProcessEnv, args: string[]) {
	const script = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)'
	const command = [process.execPath, '--import=tsx', program, ...args]
	return spawn('python3', ['-c', script, ...command], { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

test('people on a terminal get text and a progress bar, and JSON only if they ask for it', async (t) => {
	const { env, pool, tempost } = await setupCommands(t)
	const command = (...args: string[]) => startOnTerminal(env, args)
	const sent = await tempost.send(message)
	const id = sent.emails[0]!.email
	t.regex(await text(command('emails', 'get', id).stdout), /^Status: +\S+\r?$[^]*^Subject: +Hello/m)
	const options = ['--to', message.to, '--from', message.from, '--subject', 'Later', '--text', 'Hi']
	const at = new Date(Date.now() + 3_600_000).toISOString()
	const later = await text(command('send', ...options, '--at', at).stdout)
	t.true(later.trim().endsWith(`SCHEDULED  ${at}`), later)
	const asJson = await text(command('emails', 'get', id, '--json').stdout)
	t.like(json(asJson), { id })
	const { to: _, ...content } = message
	await tempost.track({ email: 'ann@example.org', event: '\u001B[2Jcleared\u009B' })
	t.regex(await text(command('logs').stdout), /\uFFFD\[2Jcleared\uFFFD/)
	const campaign = await tempost.campaigns.create({ ...content, name: 'News', audienceType: 'ALL' })
	await pool.query(`update campaigns set status = 'SENT'`)
	const watched = await text(command('campaigns', 'watch', campaign.id).stdout)
	t.regex(watched, /\r█{30} 100 %[^]*status: +SENT/)
})

test('a campaign is watched until it has been sent', async (t) => {
	const { start, tempost, pool } = await setupCommands(t)
	const { to: _, ...content } = message
	const { id } = await tempost.campaigns.create({ ...content, name: 'News', audienceType: 'ALL' })
	await pool.query(`update campaigns set status = 'SENDING'`)
	const { printed, ended } = start('campaigns', 'watch', id)
	t.true(await until(async () => printed.out.includes('SENDING'), 60_000))
	await pool.query(`update campaigns set status = 'SENT'`)
	t.is(await ended, 0, printed.err)
	t.like(lines(printed.out).at(-1)!, { id, status: 'SENT' })
})

/** Commands that reach the service on a way that can be cut. */
async function setupWay(t: ExecutionContext) {
	const all = await setupCommands(t)
	const way = await cuttableWay('127.0.0.1', Number(new URL(all.url).port))
	t.teardown(way.cut)
	Object.assign(all.env, { TEMPOST_URL: `http://127.0.0.1:${way.port}` })
	return { ...all, way }
}

const remarks =
	/^.* cannot be reached \(NETWORK_ERROR\)\. Asking again until the service answers\.\nThe service answers again\.\n$/

test('a campaign is watched beyond an absence of the service, which is reported', async (t) => {
	const { start, tempost, pool, way } = await setupWay(t)
	const { to: _, ...content } = message
	const { id } = await tempost.campaigns.create({ ...content, name: 'News', audienceType: 'ALL' })
	await pool.query(`update campaigns set status = 'SENDING'`)
	const { printed, ended } = start('campaigns', 'watch', id)
	t.true(await until(async () => printed.out.includes('SENDING'), 60_000))
	way.cut()
	t.true(await until(async () => printed.err.includes('Asking again'), 20_000), printed.err)
	await way.mend()
	await pool.query(`update campaigns set status = 'SENT'`)
	t.is(await ended, 0, printed.err)
	t.like(lines(printed.out).at(-1)!, { id, status: 'SENT' })
	t.regex(printed.err, remarks)
})

test('on a terminal, a remark takes the line of the progress bar', async (t) => {
	const { env, tempost, pool, way } = await setupWay(t)
	const { to: _, ...content } = message
	const { id } = await tempost.campaigns.create({ ...content, name: 'News', audienceType: 'ALL' })
	await pool.query(`update campaigns set status = 'SENDING'`)
	let shown = ''
	const watching = startOnTerminal(env, ['campaigns', 'watch', id])
	t.teardown(() => watching.kill())
	watching.stdout.on('data', (data) => (shown += data))
	t.true(await until(async () => shown.includes('0 of 0 sent'), 60_000))
	way.cut()
	t.true(await until(async () => shown.includes('Asking again'), 20_000), shown)
	await way.mend()
	await pool.query(`update campaigns set status = 'SENT'`)
	t.true(await until(async () => shown.includes('SENT'), 60_000))
	t.true(shown.includes('0 of 0 sent\u001B[K\r\u001B[Khttp'), shown)
})

test('an import is followed beyond an absence of the service, which is reported', async (t) => {
	const { app, start, pool, way } = await setupWay(t)
	const asked: string[] = []
	app.server.on('request', ({ url }) => void asked.push(url!))
	const { child, printed, ended } = start('contacts', 'import', '-')
	child.stdin.end('email\nann@example.org\n')
	const isAwaited = async () => asked.some((url) => url.startsWith('/contacts/import/'))
	t.true(await until(isAwaited, 60_000))
	way.cut()
	t.true(await until(async () => printed.err.includes('Asking again'), 20_000), printed.err)
	await way.mend()
	await pool.query(`update jobs set state = 'completed', total = 1, position = 1, created_count = 1,
		finished_at = now()`)
	t.is(await ended, 0, printed.err)
	t.like(json(printed.out), { state: 'completed' })
	t.regex(printed.err, remarks)
})

test('people who watch a campaign see why it waits, and its last figures in a column', async (t) => {
	const { env, tempost, pool } = await setupCommands(t)
	const { to: _, ...content } = message
	const { id } = await tempost.campaigns.create({ ...content, name: 'News', audienceType: 'ALL' })
	await pool.query(
		`update campaigns set status = 'SENDING', paused_at = now(), paused_reason = 'OWNER'`,
	)
	let shown = ''
	const watching = startOnTerminal(env, ['campaigns', 'watch', id])
	t.teardown(() => watching.kill())
	watching.stdout.on('data', (data) => (shown += data))
	t.true(await until(async () => shown.includes('0 of 0 sent, waits: paused'), 60_000), shown)
	await pool.query(`update campaigns set status = 'CANCELLED'`)
	t.true(await until(async () => shown.includes('total: '), 60_000), shown)
	t.regex(shown, /status: {9}CANCELLED\r\n[^]*ratePerSecond: {2}0\r\n/)
})

test('logs are followed beyond an absence of the service, which is reported', async (t) => {
	const { start, tempost, way } = await setupWay(t)
	const track = (event: string) => tempost.track({ email: 'ann@example.org', event })
	await track('first')
	const types = ['--types', 'event.triggered']
	const { child, printed, ended } = start('logs', '-f', '--since', '1h', ...types)
	t.true(await until(async () => printed.out.includes('first'), 60_000))
	way.cut()
	t.true(await until(async () => printed.err.includes('Asking again'), 20_000), printed.err)
	await track('meanwhile')
	await way.mend()
	t.true(await until(async () => printed.out.includes('meanwhile'), 60_000))
	child.kill('SIGINT')
	t.is(await ended, 0, printed.err)
	t.is(lines(printed.out).length, 2)
	t.regex(printed.err, remarks)
})

test('logs begin with the first one if they should go back further than there are dates', async (t) => {
	const { run, tempost } = await setupCommands(t)
	await tempost.track({ email: 'ann@example.org', event: 'first' })
	for (const since of ['900000d', '9999999999999d']) {
		const { code, out, err } = await run(['logs', '--since', since, '--types', 'event.triggered'])
		t.is(code, 0, err)
		t.is(lines(out).length, 1)
	}
})

test('logs end well when their reader has ended', async (t) => {
	const { start, tempost } = await setupCommands(t)
	const track = (event: string) => tempost.track({ email: 'ann@example.org', event })
	for (let i = 0; i < 5; i++) await track(`event ${i}`)
	for (const args of [['logs'], ['logs', '-f', '--since', '1h']]) {
		const { child, printed, ended } = start(...args)
		child.stdout.destroy()
		t.is(await ended, 0, printed.err)
		t.is(printed.err, '')
	}
})

test('logs follow the clock of the service, and end well at once', async (t) => {
	const { start, tempost, env } = await setupCommands(t)
	const track = (event: string) => tempost.track({ email: 'ann@example.org', event })
	await track('before')
	const ahead = `globalThis.Date = class extends Date {
		constructor(...given) { if (given.length > 0) super(...given); else super(Date.now()) }
		static now() { return super.now() + 3_600_000 }
	}`
	const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(ahead)}`
	Object.assign(env, { NODE_OPTIONS })
	const { child, printed, ended } = start('logs', '-f')
	const isShown = async (event: string) => printed.out.includes(event)
	let tracked = 0
	// The first look may be over or not.
	t.true(await until(async () => (await track(`later${tracked++}`), isShown('later')), 60_000))
	t.false(await isShown('before'))
	child.kill('SIGINT')
	t.is(await ended, 0, printed.err)
})
