import type { Pool } from 'pg'
import { createAcceptance } from '../../db/emails/acceptance-groups.ts'
import { type Database, databaseOf, withDatabase } from '../../db/thread-database.ts'
import { bufferOf, ownBuffer } from '../../mail/threads/buffer-of.ts'
import { TaskTooLarge } from '../../mail/threads/pool.ts'
import { ApiError } from '../errors.ts'
import { dropNulls, type Shape } from '../requests/absent-nulls.ts'
import { parseJson } from '../requests/body.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { bodyFaults } from '../requests/validation.ts'
import { threads } from '../threads/threads.ts'
import type { Asked, SendOptions } from './send-acceptance.ts'
import { acceptBody, bodies } from './send-bodies.ts'

/** Parsing, checking, rendering and writing more than this blocks the event loop noticeably. */
export const largeBytes = 2 ** 20
const limitMs = 90_000

/** A body that is processed elsewhere. */
export class LargeBody {
	readonly #bytes: Buffer

	constructor(bytes: Buffer) {
		this.#bytes = bytes
	}

	get bytes() {
		return this.#bytes
	}
}

/** Runs all the work of a large request on a thread, from parsing to the transaction. */
export async function acceptLarge<Kind extends keyof typeof bodies>(
	pool: Pool,
	kind: Kind,
	asked: Asked,
	bytes: Buffer,
	options: SendOptions,
) {
	const { project, idempotency, headers } = asked
	const { attachmentsMaxCount, attachmentsMaxMb, publicUrl, features } = options
	const task: LargeSend = {
		database: databaseOf(pool),
		kind,
		asked: { project, idempotency, headers: { 'idempotency-key': headers['idempotency-key'] } },
		bytes,
		options: { attachmentsMaxCount, attachmentsMaxMb, publicUrl, features },
	}
	const outcome = await threads
		.run('send', task, { key: project.id, limitMs, transfer: ownBuffer(bytes) })
		.catch((error: unknown) => {
			if (error instanceof TaskTooLarge) throw tookTooLong()
			throw error
		})
	if ('answer' in outcome) return outcome.answer as unknown as AnswerTo<Kind>
	throw outcome.refusal ? refusalOf(outcome.refusal) : Object.assign(new Error(), outcome.fault)
}

interface LargeSend {
	database: Database
	kind: keyof typeof bodies
	asked: Asked
	bytes: Uint8Array
	options: SendOptions
}

type AnswerTo<Kind extends keyof typeof bodies> = Awaited<ReturnType<typeof acceptBody<Kind>>>

const faultsOf = {
	one: bodyFaults(bodies.one.schema),
	batch: bodyFaults(bodies.batch.schema),
}

/** The thread's part of `acceptLarge`. */
export async function performLarge({ database, kind, asked, bytes, options }: LargeSend) {
	try {
		const { schema } = bodies[kind]
		const body = (await parseJson(bufferOf(bytes), schema)) ?? {}
		dropNulls(body, schema as object as Shape)
		const faults = fieldErrors(faultsOf[kind](body))
		return await withDatabase(database, async (pool) => ({
			answer: await acceptBody(kind, createAcceptance(pool), asked, body, faults, options),
		}))
	} catch (error) {
		// Errors lose their class, and members that we or pg added, between threads.
		if (error instanceof ApiError) {
			const { status, code, message, extras } = error
			return { refusal: { status, code, message, extras } }
		}
		const { message, stack, code, constraint, syscall } = error as NodeJS.ErrnoException & {
			constraint?: string
		}
		return { fault: { message, stack, code, constraint, syscall } }
	}
}

const refusalOf = ({ status, code, message, extras }: Omit<ApiError, 'name'>) =>
	new ApiError(status, code, message, extras)

const tookTooLong = () =>
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'This request took too long', {
		retryAfterSeconds: 5,
		suggestion:
			'It may have been completed. Send it again with the same Idempotency-Key, or split it.',
	})
