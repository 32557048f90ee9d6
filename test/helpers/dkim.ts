import { createHash, createVerify } from 'node:crypto'

/** Checks a DKIM signature (RFC 6376, relaxed/relaxed, rsa-sha256) as a receiver would. */
export function verifyDkim(raw: string, publicKey: string) {
	const split = raw.indexOf('\r\n\r\n')
	const fields = raw.slice(0, split).match(/^\S[^\r]*(?:\r\n[ \t][^\r]*)*/gm) ?? []
	const body = raw.slice(split + 4)
	const signature = fields.find((field) => /^dkim-signature:/i.test(field))
	if (!signature) return { isValid: false, tags: new Map<string, string>() }
	const tags = new Map(
		signature
			.slice(signature.indexOf(':') + 1)
			.split(';')
			.map((tag) => tag.replace(/\s+/g, '').split(/=(.*)/s) as [string, string]),
	)
	const bodyHash = createHash('sha256').update(relaxedBody(body)).digest('base64')
	const names = (tags.get('h') ?? '').toLowerCase().split(':')
	// Each name stands for the last field of that name. A name without a field covers its absence.
	const covered = names.flatMap((name) => {
		const field = fields.findLast((one) => one.toLowerCase().startsWith(`${name}:`))
		return field ? [relaxedHeader(field)] : []
	})
	const unsigned = relaxedHeader(signature.replace(/([;\s]b=)[^;]*$/, '$1'))
	const isSigned = createVerify('RSA-SHA256')
		.update(covered.map((field) => `${field}\r\n`).join('') + unsigned)
		.verify(publicKey, tags.get('b') ?? '', 'base64')
	return { isValid: isSigned && tags.get('bh') === bodyHash, tags }
}

function relaxedHeader(field: string) {
	const colon = field.indexOf(':')
	const value = field
		.slice(colon + 1)
		.replace(/\r\n/g, '')
		.replace(/[ \t]+/g, ' ')
		.trim()
	return `${field.slice(0, colon).trim().toLowerCase()}:${value}`
}

function relaxedBody(body: string) {
	const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
	const text = lines.join('\r\n').replace(/(\r\n)*$/, '')
	return text && `${text}\r\n`
}
