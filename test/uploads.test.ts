import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readSettings } from '../api/settings.ts'
import { createProject, setup, startApp } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { s3Fake } from './helpers/s3-fake.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const png = bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR and so on')
const images = {
	png,
	jpg: bytes('\xff\xd8\xff\xe0\0\x10JFIF and so on'),
	gif: bytes('GIF89a and so on'),
	webp: bytes('RIFF\x24\0\0\0WEBPVP8 and so on'),
}
const types = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' }

async function setupUploads(t: ExecutionContext, settings: object = {}, services: object = {}) {
	const uploadsDir = await mkdtemp(join(tmpdir(), 'tempost-uploads-'))
	t.teardown(() => rm(uploadsDir, { recursive: true }))
	const context = await setup(t, { settings: { uploadsDir, ...settings }, services })
	const upload = (content: Buffer, name = 'a.png', type = 'image/png', field = 'image') => {
		const form = new FormData()
		form.append(field, new Blob([new Uint8Array(content)], { type }), name)
		return context.app.inject({
			method: 'POST',
			url: '/uploads/image',
			headers: context.withSecretKey,
			payload: form,
		})
	}
	const fetchImage = (key: string) => context.app.inject({ url: `/uploads/${key}` })
	return { ...context, uploadsDir, upload, fetchImage }
}

async function setupS3(t: ExecutionContext, services: object = {}) {
	const s3 = await s3Fake(t)
	const access = { bucket: 'pictures', region: 'eu-1', accessKeyId: 'id', secretAccessKey: 'key' }
	const settings = { s3: { endpoint: s3.endpoint, ...access } }
	return { ...(await setupUploads(t, settings, services)), s3, settings }
}

test('an image is recognised by its content, regardless of name and type', async (t) => {
	const { upload, fetchImage } = await setupUploads(t)
	for (const [extension, content] of Object.entries(images)) {
		const answer = await upload(content, 'Summer sale.html', 'text/html')
		t.is(answer.statusCode, 200, answer.body)
		const { url, key, ...rest } = answer.json()
		const contentType = types[extension as keyof typeof types]
		t.deepEqual(rest, { filename: 'Summer sale.html', contentType, size: content.length })
		t.regex(key, new RegExp(`^[0-9a-f]{16}/[\\w-]{22}\\.${extension}$`))
		t.is(url, `http://localhost:3000/uploads/${key}`)
		const image = await fetchImage(key)
		t.deepEqual(image.rawPayload, content)
		t.is(image.headers['content-type'], contentType)
	}
})

test('an image without a file name is taken, and has none', async (t) => {
	const { app, fetchImage, uploadsDir, withSecretKey } = await setupUploads(t)
	const payload = Buffer.concat([
		bytes('--x\r\nContent-Disposition: form-data; name="image"\r\n'),
		bytes('Content-Type: application/octet-stream\r\n\r\n'),
		png,
		bytes('\r\n--x--\r\n'),
	])
	const headers = { ...withSecretKey, 'content-type': 'multipart/form-data; boundary=x' }
	const answer = await app.inject({ method: 'POST', url: '/uploads/image', headers, payload })
	t.is(answer.statusCode, 200, answer.body)
	t.like(answer.json(), { filename: '', contentType: 'image/png', size: png.length })
	t.deepEqual((await fetchImage(answer.json().key)).rawPayload, png)
	t.is((await readdir(uploadsDir)).length, 1)
})

test('a file that is not an image is refused, and leaves nothing behind', async (t) => {
	const { upload, uploadsDir } = await setupUploads(t)
	const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
	for (const content of [
		svg,
		'<html>',
		'',
		'GIF',
		'\x89PNG\r\n\x1a\n',
		'RIFF\0\0\0\0AVI LIST',
		'BM',
	])
		t.like(isEnvelope(t, await upload(bytes(content)), 422, 'VALIDATION_ERROR').errors[0], {
			field: 'image',
			code: 'custom',
		})
	isEnvelope(t, await upload(png, 'a.png', 'image/png', 'file'), 400, 'BAD_REQUEST')
	t.deepEqual(await readdir(uploadsDir), [])
})

test('10 MB are taken, a byte more is a 413', async (t) => {
	const { upload, fetchImage } = await setupUploads(t)
	const large = Buffer.concat([png, Buffer.alloc(10 * 2 ** 20 - png.length)])
	const { key } = (await upload(large)).json()
	t.is((await fetchImage(key)).rawPayload.length, large.length)
	isEnvelope(t, await upload(Buffer.concat([large, bytes('x')])), 413, 'BAD_REQUEST')
})

test('images are served so that a browser can only show them', async (t) => {
	const { upload, fetchImage } = await setupUploads(t)
	const { key } = (await upload(png)).json()
	const { headers } = await fetchImage(key)
	t.like(headers, {
		'x-content-type-options': 'nosniff',
		'content-security-policy': "default-src 'none'; sandbox",
		'cache-control': 'public, max-age=31536000, immutable',
		'cross-origin-resource-policy': 'cross-origin',
	})
})

test('only images are served, under any path', async (t) => {
	const { upload, fetchImage } = await setupUploads(t)
	const { key } = (await upload(png)).json()
	const [folder] = key.split('/')
	for (const path of [
		'',
		folder,
		`${folder}%2f..%2f..%2f..%2fetc%2fpasswd`,
		'../../../etc/passwd',
		'%2e%2e/%2e%2e/package.json',
		`${key}.part`,
		key.replace('.png', '.gif'),
		`${folder}/${'A'.repeat(22)}.png`,
	])
		isEnvelope(t, await fetchImage(path), 404, 'RESOURCE_NOT_FOUND')
})

test('two projects do not share a folder, and the public key uploads nothing', async (t) => {
	const { app, orm, upload, withPublicKey } = await setupUploads(t)
	const other = await createProject(orm)
	const form = new FormData()
	form.append('image', new Blob([new Uint8Array(png)]), 'a.png')
	const theirs = await app.inject({
		method: 'POST',
		url: '/uploads/image',
		headers: other.withSecretKey,
		payload: form,
	})
	const mine = await upload(png)
	const folder = (answer: typeof mine) => answer.json().key.split('/')[0]
	t.not(folder(mine), folder(theirs))
	t.is(folder(mine), folder(await upload(png)))
	isEnvelope(
		t,
		await app.inject({
			method: 'POST',
			url: '/uploads/image',
			headers: withPublicKey,
			payload: form,
		}),
		401,
		'INVALID_API_KEY',
	)
})

test('with S3 settings images go to that storage, and come from it', async (t) => {
	const { s3, settings, ...context } = await setupS3(t)
	const { key } = (await context.upload(images.gif)).json()
	const stored = s3.objects.get(`/pictures/${key}`)!
	t.deepEqual(stored.body, images.gif)
	t.is(stored.headers['content-type'], 'image/gif')
	t.regex(
		stored.headers.authorization!,
		/^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-1\/s3\/aws4_request, /,
	)
	t.deepEqual(await readdir(context.uploadsDir), [])
	const image = await context.fetchImage(key)
	t.deepEqual(image.rawPayload, images.gif)
	isEnvelope(t, await context.fetchImage(key.replace('.gif', '.png')), 404, 'RESOURCE_NOT_FOUND')
	// Another process finds them there.
	const { app } = await startApp(t, context.orm, { settings })
	t.is((await app.inject({ url: `/uploads/${key}` })).statusCode, 200)
})

test('a failing storage is a 503 that says when to retry', async (t) => {
	const { s3, ...context } = await setupS3(t)
	const { key } = (await context.upload(images.gif)).json()
	const isRefused = (answer: Awaited<ReturnType<typeof context.upload>>) => {
		isEnvelope(t, answer, 503, 'EXTERNAL_SERVICE_ERROR')
		t.truthy(answer.headers['retry-after'])
	}
	s3.fail('torn')
	isRefused(await context.upload(png))
	s3.fail(503)
	isRefused(await context.upload(png))
	isRefused(await context.fetchImage(key))
	s3.fail(undefined)
	t.is((await context.fetchImage(key)).statusCode, 200)
})

test('an image that breaks off in the storage breaks off for its reader, too', async (t) => {
	const { s3, upload, fetchImage } = await setupS3(t)
	const { key } = (await upload(images.gif)).json()
	s3.fail('torn')
	await t.throwsAsync(fetchImage(key), { code: 'LIGHT_ECONNRESET' })
})

for (const storage of ['disk', 'S3'] as const)
	test(`slow readers of images on ${storage} push out no other answer, and take no places of requests`, async (t) => {
		const services = { capacity: { requests: 1, departingBytes: 16 * 2 ** 20 } }
		const { app, upload } =
			storage === 'S3' ? await setupS3(t, services) : await setupUploads(t, {}, services)
		const large = Buffer.concat([png, Buffer.alloc(10 * 2 ** 20 - png.length)])
		const { key } = (await upload(large)).json()
		const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/uploads/${key}`
		const readers: IncomingMessage[] = []
		for (let n = 0; n < 3; n++) {
			// It reads nothing of the body yet.
			const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
			t.is(answer.statusCode, 200)
			t.is(answer.headers['content-length'], `${large.length}`)
			readers.push(answer)
		}
		t.is((await app.inject({ url: '/config' })).statusCode, 200)
		for (const reader of readers) t.true(large.equals(Buffer.concat(await reader.toArray())))
	})

test('half of the S3 settings is an error that names the other half', (t) => {
	const environment = { SESSION_SECRET: 'a secret of the tests', S3_BUCKET: 'pictures' }
	t.throws(() => readSettings(environment), { message: /S3_ENDPOINT: .*\n.*S3_ACCESS_KEY_ID/ })
	t.is(readSettings({ SESSION_SECRET: 'a secret of the tests' }).s3, undefined)
})

test('a disk that takes nothing more refuses the image with 503, and keeps no part of it', async (t) => {
	const folder = await mkdtemp(join(tmpdir(), 'tempost-full-'))
	t.teardown(() => rm(folder, { recursive: true }))
	const disk = mountedDisk(t, folder) ?? join(folder, 'no-folder')
	if (disk !== folder) await writeFile(disk, 'a file where a folder should be')
	const { upload, fetchImage } = await setupUploads(t, { uploadsDir: disk })
	const large = Buffer.concat([png, Buffer.alloc(2 ** 20)])
	isEnvelope(t, await upload(large), 503, 'EXTERNAL_SERVICE_ERROR')
	if (disk !== folder) return
	t.deepEqual(
		(await readdir(disk, { recursive: true, withFileTypes: true })).filter((e) => e.isFile()),
		[],
	)
	const { key } = (await upload(png)).json()
	t.is((await fetchImage(key)).statusCode, 200)
})

/** A disk of half a megabyte, where mounting is allowed: for root on Linux, but not in most containers. */
function mountedDisk(t: ExecutionContext, folder: string) {
	const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', folder])
	if (status !== 0) return null
	t.teardown(() => void spawnSync('umount', ['--lazy', folder]))
	return folder
}

test('a project uploads at most 500 images an hour', async (t) => {
	const { upload, pool } = await setupUploads(t)
	t.is((await upload(png)).statusCode, 200)
	await pool.query('update throttles set tries = array_fill(tries[1], array[499])')
	t.deepEqual([(await upload(png)).statusCode, (await upload(png)).statusCode], [200, 429])
})
