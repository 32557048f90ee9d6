import { ApplicationFailure, Context } from '@temporalio/activity'
import { isMissingReference } from '../db/reference.ts'

/** Data exceptions, violated constraints and limits of Postgres: a retry fails again. */
const permanentStates = /^(22|23|54)/
/** Two tries of the same work met; the later try finds the work done. */
const uniqueViolation = '23505'
/** A referenced row was deleted at this moment. The next try sees that, unless the row never existed. */
const triesOfForeignKeys = 5

/** Database work that is retried only if a retry can help. */
export async function permanently<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		const { code = '', message } = error as { code?: string; message: string }
		if (!permanentStates.test(code) || code === uniqueViolation) throw error
		if (isMissingReference(error) && Context.current().info.attempt < triesOfForeignKeys)
			throw error
		throw ApplicationFailure.nonRetryable(message, `Postgres ${code}`)
	}
}
