import { Readable } from 'node:stream'
import test from 'ava'
import { isEnvelope } from './helpers/envelope.ts'
import { setupJobs } from './helpers/jobs.ts'

test('a form without a file is a 400, with any other content', async (t) => {
	const { app, withSecretKey: headers, execute } = await setupJobs(t)
	const url = '/contacts/import'
	isEnvelope(t, await app.inject({ method: 'POST', url, headers }), 400, 'BAD_REQUEST')
	const form = new FormData()
	form.append('note', 'no file')
	form.append('other', new Blob(['email\n'], { type: 'text/csv' }), 'other.csv')
	isEnvelope(
		t,
		await app.inject({ method: 'POST', url, headers, payload: form }),
		400,
		'BAD_REQUEST',
	)
	t.deepEqual(await execute('select id from jobs'), [])
})

test('5 MB are taken, a byte more is a 413', async (t) => {
	const jobs = await setupJobs(t)
	const header = Buffer.from('email\n')
	const csv = Buffer.concat([header, Buffer.alloc(5 * 2 ** 20 - header.length, '\n')])
	t.is((await jobs.upload(csv)).statusCode, 202)
	const tooLarge = await jobs.upload(Buffer.concat([csv, Buffer.from('\n')]))
	t.regex(isEnvelope(t, tooLarge, 413, 'BAD_REQUEST').message, /5 MB/)
	t.is((await jobs.execute('select id from jobs')).length, 1)
})

test('a file that is too large is a 413 wherever its packets break, never cut short', async (t) => {
	const { app, withSecretKey, execute } = await setupJobs(t)
	const before =
		'--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\ncontent-type: text/csv\r\n\r\n'
	const form = Buffer.concat([
		Buffer.from(`${before}email\n`),
		Buffer.alloc(5 * 2 ** 20, '\n'),
		Buffer.from('\r\n--x--\r\n'),
	])
	const limit = before.length + 5 * 2 ** 20
	const steps = [1, 2, 3, 4, 5, 1000, 2 ** 16].flatMap((step) => [
		limit - step,
		limit,
		limit + step,
	])
	for (const at of steps.filter((at) => at < form.length)) {
		const answer = await app.inject({
			method: 'POST',
			url: '/contacts/import',
			headers: { ...withSecretKey, 'content-type': 'multipart/form-data; boundary=x' },
			payload: Readable.from([form.subarray(0, at), form.subarray(at)]),
		})
		isEnvelope(t, answer, 413, 'BAD_REQUEST')
	}
	t.deepEqual(await execute('select id from jobs'), [])
})

test('a name ending in .csv or the type text/csv will do, anything else is a 422', async (t) => {
	const jobs = await setupJobs(t)
	t.is((await jobs.upload('email\n', 'A.CSV', 'application/octet-stream')).statusCode, 202)
	t.is((await jobs.upload('email\n', 'list', 'text/csv; charset=utf-8')).statusCode, 202)
	const error = isEnvelope(
		t,
		await jobs.upload('x', 'list.xlsx', 'application/zip'),
		422,
		'VALIDATION_ERROR',
	)
	t.is(error.errors[0].field, 'file')
})

test('a form that breaks off, or says no boundary, is a 400', async (t) => {
	const { app, withSecretKey } = await setupJobs(t)
	const post = (type: string, payload: string) =>
		app.inject({
			method: 'POST',
			url: '/contacts/import',
			headers: { ...withSecretKey, 'content-type': type },
			payload,
		})
	const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n'
	isEnvelope(t, await post('multipart/form-data; boundary=x', part), 400, 'BAD_REQUEST')
	isEnvelope(t, await post('multipart/form-data', part), 400, 'BAD_REQUEST')
	const { suggestion } = isEnvelope(t, await post('text/csv', 'email\n'), 415, 'BAD_REQUEST')
	t.regex(suggestion!, /multipart\/form-data/)
})

test('a form of many parts is refused', async (t) => {
	const { app, withSecretKey: headers } = await setupJobs(t)
	const form = new FormData()
	for (let i = 0; i < 30; i++) form.append(`field-${i}`, 'x')
	const answer = await app.inject({
		method: 'POST',
		url: '/contacts/import',
		headers,
		payload: form,
	})
	isEnvelope(t, answer, 413, 'BAD_REQUEST')
})

test('a thousand errors are in the result, all of them as CSV', async (t) => {
	const jobs = await setupJobs(t)
	const rows = Array.from({ length: 6200 }, (_, i) => (i % 2 ? `bad ${i}` : `${i}@example.org`))
	const job = await jobs.import(['email', ...rows, '"=cmd()","x"', '"a ""b"", c"'].join('\n'))
	t.is(job.result['failureCount'], 3102)
	t.is(job.result.errors.length, 1000)
	t.is(job.result.errors[0]!.row, 3)
	const answer = await jobs.call('GET', `/contacts/import/${job.id}/errors`)
	t.is(answer.headers['content-type'], 'text/csv; charset=utf-8')
	const lines = answer.body.trimEnd().split('\n')
	t.is(lines.length, 3103)
	t.deepEqual(lines.slice(0, 2), ['row,email,error', '3,bad 1,This is not an email address'])
	t.is(lines.at(-2), `6202,"'=cmd()",This is not an email address`)
	t.is(lines.at(-1), '6203,"a ""b"", c",This is not an email address')
})
