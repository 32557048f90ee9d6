import { createReadStream } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { ApiError } from '../errors.ts'
import { type S3Access, signS3 } from './s3-signature.ts'

/** Where images lie. Keys are ours: what comes from outside was checked to be like one. */
export interface ImageStore {
	put(key: string, content: Buffer, contentType: string): Promise<void>
	/** undefined: there is none. */
	get(key: string): Promise<Buffer | Readable | undefined>
}

/** A file appears whole or not at all, whatever happens meanwhile. */
export const diskStore = (folder: string): ImageStore => ({
	async put(key, content) {
		const path = join(folder, key)
		const part = `${path}.part`
		try {
			await mkdir(dirname(path), { recursive: true })
			await writeFile(part, content, { mode: 0o644, flush: true })
			await rename(part, path)
		} catch (error) {
			// A full disk, or one that nobody may write to.
			await rm(part, { force: true }).catch(() => {})
			throw unavailable(error)
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

export interface S3Settings extends S3Access {
	endpoint: string
	bucket: string
}

const timeoutMs = 20_000

/** Any storage that speaks S3, by paths: the bucket need not be public, for images are served by us. */
export function s3Store(settings: S3Settings): ImageStore {
	const base = `${settings.endpoint.replace(/\/+$/, '')}/${settings.bucket}/`

	/** Its answer, whole: one that breaks off is none. */
	async function ask(method: 'GET' | 'PUT', key: string, body: Buffer, headers = {}) {
		const url = new URL(base + key)
		try {
			const answer = await fetch(url, {
				method,
				headers: signS3(settings, method, url, body, headers),
				...(method === 'PUT' ? { body: new Uint8Array(body) } : {}),
				redirect: 'error',
				signal: AbortSignal.timeout(timeoutMs),
			})
			const { ok, status } = answer
			return { ok, status, content: Buffer.from(await answer.arrayBuffer()) }
		} catch (error) {
			throw unavailable(error)
		}
	}

	return {
		async put(key, content, contentType) {
			const answer = await ask('PUT', key, content, { 'content-type': contentType })
			if (!answer.ok) throw refused(answer)
		},
		async get(key) {
			const answer = await ask('GET', key, Buffer.alloc(0))
			if (answer.status === 404) return undefined
			if (!answer.ok) throw refused(answer)
			return answer.content
		},
	}
}

const refused = ({ status, content }: { status: number; content: Buffer }) =>
	unavailable(`${status} ${content.toString('utf8', 0, 1000)}`)

const unavailable = (cause: unknown) =>
	new ApiError(
		503,
		'EXTERNAL_SERVICE_ERROR',
		'The storage of images does not answer as it should',
		{
			cause,
			retryAfterSeconds: 5,
			suggestion: 'Try again in a moment; whoever runs this service finds the reason in the log.',
		},
	)
