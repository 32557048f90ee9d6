import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

// argon2id as a PHC string, with the parameters that OWASP recommends.
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/

const digest = (password: string, nonce: Buffer, parameters: typeof cost) =>
	// Normalised, because keyboards compose the same character in different ways.
	promisify(argon2)('argon2id', { message: password.normalize('NFKC'), nonce, ...parameters })

const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

function phcOf(nonce: Buffer, hash: Buffer) {
	const { memory, passes, parallelism } = cost
	return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(hash)}`
}

export async function hashPassword(password: string) {
	const nonce = randomBytes(16)
	const hash = await digest(password, nonce, cost)
	return phcOf(nonce, hash)
}

/** Belongs to no account. */
const decoy = phcOf(randomBytes(16), randomBytes(cost.tagLength))

/** Enough for 200 characters. Normalising megabytes of accents would take minutes. */
const mostUnits = 400

/** Takes the same time if there is no password to compare with. */
export async function isPassword(given: string, known: string | null) {
	const isTooLong = given.length > mostUnits
	const password = isTooLong ? '' : given
	const hash = isTooLong ? null : known
	const [, memory, passes, parallelism, nonce, tag] = phc.exec(hash ?? decoy)!
	const wanted = Buffer.from(tag!, 'base64')
	const actual = await digest(password, Buffer.from(nonce!, 'base64'), {
		memory: Number(memory),
		passes: Number(passes),
		parallelism: Number(parallelism),
		tagLength: wanted.length,
	})
	return timingSafeEqual(actual, wanted) && hash !== null
}
