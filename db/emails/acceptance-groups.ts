import { DatabaseError, type Pool } from 'pg'
import { inGroups } from '../groups.ts'
import { createQueues } from '../queues.ts'
import { type AskedContext, limitedContexts, sendContexts } from './acceptance-contexts.ts'
import { type AcceptedSend, acceptPlain, acceptSend, isPlain } from './acceptance.ts'

/** Larger requests go alone, so that they don't delay others. */
const mostMailsInGroup = 10
const mostCharactersInGroup = 2 ** 16
const mostRequestsInGroup = 32

export type Acceptance = ReturnType<typeof createAcceptance>
/** What requests are planned with. */
export type Reading = Pick<Acceptance, 'contextFor' | 'contextsFor'>

/** Requests that hold locks. Others need the remaining connections. */
const mostLocking = 4

/** Reads and writes for requests; those of one project that arrive together share their statements. */
export function createAcceptance(pool: Pool) {
	const contextsOf = (read: typeof sendContexts) =>
		inGroups({
			work: (projectId, requests: AskedContext[]) => read(pool, { projectId, requests }),
			atOnce: 2,
			mostItems: mostRequestsInGroup,
		})
	const [limited, unlimited] = [contextsOf(limitedContexts), contextsOf(sendContexts)]
	const acceptTogether = inGroups({
		work: (projectId, sends: AcceptedSend[]) => acceptGroup(pool, projectId, sends),
		atOnce: 2,
		mostItems: mostRequestsInGroup,
	})
	return {
		pool,
		/** For requests that hold locks: one of a project at a time. */
		inQueue: createQueues(mostLocking),
		contextFor: (projectId: string, request: AskedContext, hasLimits: boolean) =>
			(hasLimits ? limited : unlimited)(projectId, request),
		/** The same for several questions of one request. */
		contextsFor: (projectId: string, requests: AskedContext[], hasLimits: boolean) =>
			(hasLimits ? limitedContexts : sendContexts)(pool, { projectId, requests }),
		async accept(send: AcceptedSend) {
			if (!isPlain(send) || !isSmall(send)) return acceptSend(pool, send)
			const fault = await acceptTogether(send.projectId, send)
			if (fault) throw fault.error
		},
	}
}

function isSmall({ contacts, messages: [message, ...others] }: AcceptedSend) {
	if (!message || others.length > 0) return false
	const { mails, files } = message
	if (files.length > 0 || mails.length > mostMailsInGroup) return false
	let characters = JSON.stringify(contacts[0]!.change.data).length * contacts.length
	for (const { subject, body, text } of mails)
		characters += subject.length + body.length + (text?.length ?? 0)
	return characters < mostCharactersInGroup
}

/** Returns each request's fault. If one fails, nothing of the group was written, and each goes alone. */
async function acceptGroup(pool: Pool, projectId: string, sends: AcceptedSend[]) {
	try {
		await acceptPlain(pool, projectId, sends)
		return sends.map(() => null)
	} catch (error) {
		if (sends.length === 1 || !isRolledBack(error)) throw error
		return Promise.all(
			sends.map((send) =>
				acceptSend(pool, send).then(
					() => null,
					(fault: unknown) => ({ error: fault }),
				),
			),
		)
	}
}

/** Not if the connection was lost: then the statement may have been committed. */
const isRolledBack = (error: unknown) =>
	error instanceof DatabaseError && error.severity === 'ERROR'
