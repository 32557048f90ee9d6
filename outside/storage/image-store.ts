import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'

/** The storage for images. We choose the keys; keys from requests were checked for the same form. */
export interface ImageStore {
	put(key: string, content: Buffer, contentType: string): Promise<void>
	/** undefined: there is no such image. */
	get(key: string): Promise<Buffer | Readable | undefined>
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
		const stream = createReadStream(join(folder, key))
		return new Promise((resolve, reject) => {
			stream.once('open', () => resolve(stream))
			stream.once('error', (error: NodeJS.ErrnoException) =>
				error.code === 'ENOENT' ? resolve(undefined) : reject(error),
			)
		})
	},
})

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

	/** Reads the whole response, so a response that breaks off counts as an error. */
	async function ask(key: string, { headers, ...init }: Ask) {
		try {
			const answer = await client.fetch(base + key, {
				...init,
				headers: { ...headers, 'x-amz-content-sha256': sha256(init.body ?? '') },
				redirect: 'error',
				signal: AbortSignal.timeout(timeoutMs),
			})
			const { ok, status } = answer
			return { ok, status, content: Buffer.from(await answer.arrayBuffer()) }
		} catch (error) {
			throw new StorageFault(error)
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
			if (!answer.ok) throw refused(answer)
			return answer.content
		},
	}
}

const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')

const refused = ({ status, content }: { status: number; content: Buffer }) =>
	new StorageFault(`${status} ${content.toString('utf8', 0, 1000)}`)
