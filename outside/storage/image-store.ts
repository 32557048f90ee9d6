import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { AwsClient } from 'aws4fetch'

/** The storage for images. We choose the keys; keys from requests were checked for the same form. */
export interface ImageStore {
	put(key: string, content: Buffer, contentType: string): Promise<void>
	/** undefined: there is no such image. */
	get(key: string): Promise<StoredImage | undefined>
}

/** A stream, because its reader may be slow: as a whole it would stay in memory until then. */
export interface StoredImage {
	content: Readable
	/** undefined: the storage does not say. */
	bytes: number | undefined
}

/** The storage was unreachable or refused; the cause says why. */
export class StorageFault extends Error {
	override name = 'StorageFault'

	constructor(cause: unknown) {
		super('The image storage gave an unexpected answer', { cause })
	}
}

/** Images as files. A file appears complete or not at all. */
export const diskStore = (folder: string): ImageStore => ({
	async put(key, content) {
		const path = join(folder, key)
		const part = `${path}.part`
		try {
			await mkdir(dirname(path), { recursive: true })
			await writeFile(part, content, { mode: 0o644, flush: true })
			await rename(part, path)
		} catch (error) {
			// The disk may be full or read-only.
			await rm(part, { force: true }).catch(() => {})
			throw new StorageFault(error)
		}
	},
	async get(key) {
		const file = await openIfThere(join(folder, key))
		return file && { content: file.createReadStream(), bytes: (await file.stat()).size }
	},
})

async function openIfThere(path: string) {
	try {
		return await open(path)
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
		throw error
	}
}

export interface S3Settings {
	endpoint: string
	bucket: string
	region: string
	accessKeyId: string
	secretAccessKey: string
}

interface Ask {
	method: 'GET' | 'PUT'
	headers?: Record<string, string>
	body?: Uint8Array<ArrayBuffer>
}

const timeoutMs = 20_000

/**
 * Any S3-compatible storage, with path-style addresses. The bucket need not be public, because we serve
 * the images.
 */
export function s3Store({ endpoint, bucket, ...access }: S3Settings): ImageStore {
	const base = `${endpoint.replace(/\/+$/, '')}/${bucket}/`
	const client = new AwsClient({ ...access, service: 's3', retries: 0 })

	/** Any answer but an image is read as a whole, so one that breaks off counts as an error. */
	async function ask(key: string, { headers, ...init }: Ask) {
		const late = new AbortController()
		const timer = setTimeout(() => late.abort(tookTooLong()), timeoutMs)
		try {
			const answer = await client.fetch(base + key, {
				...init,
				headers: { ...headers, 'x-amz-content-sha256': sha256(init.body ?? '') },
				redirect: 'error',
				signal: late.signal,
			})
			const { ok, status, body } = answer
			if (init.method === 'GET' && ok && body) return { status, image: imageOf(answer, body) }
			return { ok, status, text: await answer.text() }
		} catch (error) {
			throw new StorageFault(error)
		} finally {
			// An image has no limit, because its reader may be slow.
			clearTimeout(timer)
		}
	}

	return {
		async put(key, content, contentType) {
			const body = new Uint8Array(content)
			const headers = { 'content-type': contentType }
			const answer = await ask(key, { method: 'PUT', headers, body })
			if (!answer.ok) throw refused(answer)
		},
		async get(key) {
			const answer = await ask(key, { method: 'GET' })
			if (answer.status === 404) return undefined
			if (!answer.image) throw refused(answer)
			return answer.image
		},
	}
}

/** A proxy may have compressed the body, which is shorter then than what we read. */
function imageOf({ headers }: Response, body: NonNullable<Response['body']>): StoredImage {
	const length = headers.has('content-encoding') ? null : headers.get('content-length')
	return {
		content: Readable.fromWeb(body as ReadableStream),
		bytes: length === null ? undefined : Number(length),
	}
}

const tookTooLong = () =>
	new Error(`The image storage took longer than ${timeoutMs / 1000} seconds`)

const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')

const refused = ({ status, text = '' }: { status: number; text?: string }) =>
	new StorageFault(`${status} ${text.slice(0, 1000)}`)
