import { createHash, createHmac } from 'node:crypto'

export interface S3Access {
	region: string
	accessKeyId: string
	secretAccessKey: string
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** Signature version 4 of a request without a query: its headers, with all that makes them count. */
export function signS3(
	{ region, accessKeyId, secretAccessKey }: S3Access,
	method: string,
	url: URL,
	body: Buffer,
	given: Record<string, string> = {},
	now = new Date(),
): Record<string, string> {
	const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
	const day = time.slice(0, 8)
	const bodyHash = sha256(body)
	const headers: Record<string, string> = {
		...given,
		host: url.host,
		'x-amz-content-sha256': bodyHash,
		'x-amz-date': time,
	}
	const names = Object.keys(headers).toSorted()
	const request = [
		method,
		url.pathname,
		'',
		...names.map((name) => `${name}:${headers[name]!.trim()}`),
		'',
		names.join(';'),
		bodyHash,
	].join('\n')
	const scope = `${day}/${region}/s3/aws4_request`
	const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n')
	const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day))
	const signature = createHmac('sha256', key).update(text).digest('hex')
	return {
		...headers,
		authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
	}
}
