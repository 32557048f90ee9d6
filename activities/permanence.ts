import { ApplicationFailure, Context } from '@temporalio/activity'

/** Data exceptions, violated constraints, limits of Postgres: the same statement fails again. */
const permanentStates = /^(22|23|54)/
/** Two tries of the same work met: the later one finds it done. */
const uniqueViolation = '23505'
/** A row it names was deleted at this moment: the next try finds it gone, unless it never was there. */
const foreignKeyViolation = '23503'
const triesOfForeignKeys = 5

/** Work on the database that is tried again unless that is pointless. */
export async function permanently<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		const { code = '', message } = error as { code?: string; message: string }
		if (!permanentStates.test(code) || code === uniqueViolation) throw error
		if (code === foreignKeyViolation && Context.current().info.attempt < triesOfForeignKeys)
			throw error
		throw ApplicationFailure.nonRetryable(message, `Postgres ${code}`)
	}
}
