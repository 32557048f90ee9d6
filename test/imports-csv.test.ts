import test, { type ExecutionContext } from 'ava'
import { setupJobs } from './helpers/jobs.ts'
import { longestStall } from './helpers/stall.ts'

const failure = async (t: ExecutionContext, csv: string | Buffer) => {
	const jobs = await setupJobs(t)
	const job = await jobs.import(csv)
	t.like(job, { state: 'failed', result: null as never })
	t.truthy(job.finishedAt)
	t.is(await jobs.contactCount(), 0)
	return job.failedReason
}

test('comma, semicolon and tab separate, with or without a BOM, with any line ending', async (t) => {
	const jobs = await setupJobs(t)
	const files = [
		'email,city\na@example.org,"Paris, France"\n',
		'\uFEFFemail;city\r\nb@example.org;"Paris, France"\r\n',
		'email\tcity\rc@example.org\tParis, France',
		'"city, of birth";email\nParis;d@example.org\n',
		'sep=;\r\nemail;city\r\ne@example.org;Paris, France\r\n',
		'\uFEFFSEP=,\nemail,city\nf@example.org,"Paris, France"\n',
	]
	for (const file of files) t.is((await jobs.import(file)).result['createdCount'], 1, file)
	for (const name of ['a', 'b', 'c', 'e', 'f'])
		t.deepEqual((await jobs.contact(`${name}@example.org`))?.data, { city: 'Paris, France' })
	t.deepEqual((await jobs.contact('d@example.org'))?.data, { 'city, of birth': 'Paris' })
})

test('true, 1 and yes subscribe, nothing keeps, anything else unsubscribes', async (t) => {
	const jobs = await setupJobs(t)
	const words = ['true', '1', ' YES ', 'True', '', 'no', '0', 'false', 'perhaps']
	const lines = words.map((word, i) => `${i}@example.org,${word}`)
	await jobs.import(['email,subscribed', ...lines].join('\n'))
	const states = await Promise.all(words.map((_, i) => jobs.contact(`${i}@example.org`)))
	t.deepEqual(
		states.map((contact) => contact!.subscribed),
		[true, true, true, true, true, false, false, false, false],
	)
})

test('of rows with the same address the later wins, cell by cell, and all are counted', async (t) => {
	const jobs = await setupJobs(t)
	await jobs.import('email,subscribed\nknown@example.org,yes\n')
	const job = await jobs.import(
		[
			'email,subscribed,city,plan',
			'Twice@example.org,no,Paris,free',
			'known@example.org,no,,',
			'twice@example.org,,,pro',
			'known@example.org,yes,Rome,',
		].join('\n'),
	)
	t.like(job.result, { totalRows: 4, successCount: 4, createdCount: 1, updatedCount: 3 })
	t.like(await jobs.contact('twice@example.org'), {
		subscribed: false,
		data: { city: 'Paris', plan: 'pro' },
	})
	t.like(await jobs.contact('known@example.org'), { subscribed: true, data: { city: 'Rome' } })
	t.deepEqual(await jobs.eventNames(), [], 'a word taken back in the same file is no flip')
})

test('empty lines and ragged rows are taken as they are, and rows keep a spreadsheet’s numbers', async (t) => {
	const jobs = await setupJobs(t)
	const job = await jobs.import(
		'email,city,plan\n\na@example.org\nb@example.org,Rome,pro,too,many\n , ,\n"c@example.org","a\nb"\nwrong\n',
	)
	t.like(job.result, { totalRows: 4, successCount: 3 })
	t.deepEqual(job.result.errors, [
		{ row: 7, email: 'wrong', error: 'This is not an email address' },
	])
	t.deepEqual((await jobs.contact('b@example.org'))?.data, { city: 'Rome', plan: 'pro' })
	t.deepEqual((await jobs.contact('c@example.org'))?.data, { city: 'a\nb' })
})

test('reserved names and __proto__ are left out', async (t) => {
	const jobs = await setupJobs(t)
	const job = await jobs.import(
		'id,service_id,unsubscribeUrl,manageURL,__proto__,constructor,Email\n1,2,3,4,5,6,a@example.org\n',
	)
	t.is(job.state, 'completed')
	t.deepEqual((await jobs.contact('a@example.org'))?.data, { constructor: '6' } as never)
})

test('values are unchanged text: quotes, backslashes, escapes of COPY or JSON', async (t) => {
	const jobs = await setupJobs(t)
	const value = String.raw`\N \. \t "x" {"a":1} \u0000 ünï 😀 $1 '; drop table contacts; --`
	await jobs.import(`email,note\na@example.org,"${value.replaceAll('"', '""')}"\n`)
	t.is((await jobs.contact('a@example.org'))?.data['note'], value)
})

test('a row that cannot be is named, and the others go their way', async (t) => {
	const jobs = await setupJobs(t)
	const job = await jobs.import(
		[
			'email,note,more',
			',x',
			'a@example.org,nul\0here',
			'nul\0@example.org',
			`b@example.org,${'x'.repeat(2 ** 20)}`,
			'c@example.org,5" pipe,"quoted" twice',
		].join('\n'),
	)
	t.deepEqual(
		job.result.errors.map(({ row, email, error }) => [row, email, error]),
		[
			[2, null, 'The email address is missing'],
			[3, 'a@example.org', 'The column "note" has a NUL character'],
			[4, 'nul@example.org', 'This is not an email address'],
			[5, 'b@example.org', 'The data of this row exceeds 64 KB in total'],
		],
	)
	t.like(await jobs.contact('c@example.org'), { data: { note: '5" pipe' } })
})

test('data that would grow beyond 64 KB on the contact is refused, as anywhere', async (t) => {
	const jobs = await setupJobs(t)
	const part = 'x'.repeat(40_000)
	await jobs.import(`email,a\nold@example.org,${part}\n`)
	const job = await jobs.import(
		`email,b,c\nold@example.org,${part}\nnew@example.org,${part},\nnew@example.org,,${part}\nok@example.org,1,2\n`,
	)
	t.deepEqual(
		job.result.errors.map(({ row, email }) => [row, email]),
		[
			[2, 'old@example.org'],
			[4, 'new@example.org'],
		],
	)
	t.is(await jobs.contactCount(), 2)
	t.deepEqual(Object.keys((await jobs.contact('old@example.org'))!.data), ['a'])
})

test('a file without rows is done at once', async (t) => {
	const jobs = await setupJobs(t)
	t.like(await jobs.import('email,city\n'), { state: 'completed', result: { totalRows: 0 } })
})

test('a file that is not UTF-8 fails with the reason', async (t) => {
	t.regex((await failure(t, Buffer.from('email\nä@example.org\n', 'latin1')))!, /not UTF-8\./)
	t.regex((await failure(t, Buffer.from('\uFEFFemail\n', 'utf16le')))!, /not UTF-8 but UTF-16/)
})

test('a quote that is never closed fails the file, and nothing of it is applied', async (t) => {
	const rows = Array.from({ length: 12_000 }, (_, i) => `${i}@example.org,x`)
	t.regex((await failure(t, `email,a\n${rows.join('\n')}\nz@example.org,"x\n`))!, /never closed/)
})

test('an impossible header fails with the reason', async (t) => {
	t.regex((await failure(t, ''))!, /file is empty/)
	t.regex((await failure(t, '\n\n'))!, /file is empty/)
	t.is(
		await failure(t, 'mail,city\na@example.org,x\n'),
		'The header has no column "email". It has "mail", "city".',
	)
	t.regex((await failure(t, `a\0b${',x'.repeat(11)}\n`))!, /It has "ab",.* and 2 more\.$/)
	t.regex((await failure(t, 'email,City,city\n'))!, /"city" twice/)
	t.regex((await failure(t, `email,${'x'.repeat(101)}\n`))!, /more than 100 characters/)
	t.regex((await failure(t, `email,${'x'.repeat(4_000_000)}\n`))!, /more than 100 characters/)
	t.regex((await failure(t, `email,a${','.repeat(5000)}b\n`))!, /more than 1000 columns/)
	t.regex((await failure(t, 'email,a\0b\n'))!, /NUL/)
	t.regex((await failure(t, `email,a\0b${'x'.repeat(101)}\n`))!, /NUL/)
})

test('a bad address fails only its own row', async (t) => {
	const jobs = await setupJobs(t)
	const long = `${'x'.repeat(253)}😀 and more`
	const job = await jobs.import(`email\n${long}\na@example.org\n`)
	t.like(job, { state: 'completed', result: { successCount: 1 } as never })
	t.is(job.result.errors[0]!.email, `${'x'.repeat(253)}\ufffd`)
})

for (const [what, sign] of Object.entries({ backslashes: '\\', controls: '\x01' }))
	test.serial(`a large file of ${what} does not hold a worker up`, async (t) => {
		const jobs = await setupJobs(t)
		const signs = sign.repeat(10_000)
		const rows = Array.from({ length: 500 }, (_, i) => `a${i}@example.org,${signs}`)
		const { jobId } = (await jobs.upload(['email,signs', ...rows].join('\n'))).json()
		const stallMs = await longestStall(() => jobs.run(jobId))
		t.like((await jobs.job(jobId)).result, { createdCount: 500, failureCount: 0 })
		t.deepEqual((await jobs.contact('a7@example.org'))?.data, { signs })
		t.true(stallMs <= 50, `${stallMs} ms`)
	})
