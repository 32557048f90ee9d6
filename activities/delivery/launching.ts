import { setTimeout as sleep } from 'node:timers/promises'
import { type AttemptEnd, type Ended, open, type OpenedMail } from '../../db/emails/ledger.ts'
import type { DeliveryServices } from './delivery.ts'
import { compose, type Contents } from './composing.ts'
import { loadAttachments, loadSources } from './contents.ts'
import { handOver } from './handover.ts'
import { isLarge } from './large-mails.ts'
import { momentIn, type TimedMail } from './moments.ts'
import type { createRecorder } from './recorder.ts'
import { aheadMs } from './send-rate.ts'
import type { UnderWay } from './under-way.ts'

/** One pass over a set of mails of one project. */
export interface Pass {
	services: DeliveryServices
	project: string
	/** The mails that are not settled, as far as this pass knows. */
	todo: Map<string, TimedMail>
	underWay: UnderWay<TimedMail>
	recorder: ReturnType<typeof createRecorder<Ended>>
}

const sliceMails = 50
/** Limits the memory of a set's mails under way. A larger mail is sent alone. */
const mostBytesUnderWay = 32 * 2 ** 20

/** Picks the next due mail of each request, as many as memory and the provider's state allow. */
export function pickReady({ services, project, todo, underWay }: Pass): TimedMail[] {
	const { pause, largeMails } = services
	if (pause.remainingMs() > 0) return []
	const most = pause.isProbing() ? (underWay.count() > 0 ? 0 : 1) : sliceMails
	const soon = performance.now() + aheadMs
	const requests = new Set<string>()
	let bytes = 0
	for (const mail of underWay.mails.values()) {
		if (mail.request_id) requests.add(mail.request_id)
		bytes += mail.bytes
	}
	const picked: TimedMail[] = []
	for (const mail of todo.values()) {
		if (picked.length >= most || bytes > mostBytesUnderWay) break
		if (mail.status !== 'PENDING' || underWay.mails.has(mail.id)) continue
		if (mail.dueAt !== null && mail.dueAt > soon) continue
		if (mail.request_id) {
			if (requests.has(mail.request_id)) continue
			requests.add(mail.request_id)
		}
		if (isLarge(mail) && !largeMails.hasRoom(project, mail.id)) continue
		picked.push(mail)
		bytes += mail.bytes
	}
	return picked
}

/** Opens as many of these mails as there are free slots, and starts to hand them over. */
export async function launch(pass: Pass, ready: TimedMail[]) {
	const { pool, gate, pause, provider, stopping, dkimKeys, largeMails } = pass.services
	const { project, todo, underWay } = pass
	const keys = await dkimKeys(project, [...new Set(ready.map((mail) => mail.domain))])
	const slots = await gate.enter(project, ready.length)
	let unused = slots
	const leaving = ready
		.slice(0, slots)
		.filter((mail) => !isLarge(mail) || largeMails.enter(project, mail.id))
	const large = new Set(leaving.filter(isLarge).map((mail) => mail.id))
	try {
		// The wait for a slot may have been long.
		if (leaving.length === 0 || stopping.aborted || pause.remainingMs() > 0) return
		// Loaded before the mails are opened: a database error at this point must leave none of them in doubt.
		const files = await loadAttachments(
			pool,
			leaving.filter((mail) => !isLarge(mail)),
		)
		const sources = await loadSources(pool, leaving)
		const rows = await open(pool, {
			projectId: project,
			emailIds: leaving.map((mail) => mail.id),
			withoutBody: [...large],
			provider: provider.name,
		})
		const opened = new Map(rows.map((mail) => [mail.id, mail]))
		unused = slots - opened.size
		for (const timed of leaving) {
			const mail = opened.get(timed.id)
			// Another run has opened or settled it. The next look at the ledger shows which.
			if (!mail) {
				todo.get(timed.id)!.status = 'SENDING'
				continue
			}
			const contents = {
				isLarge: large.delete(mail.id),
				attachments: files.get(mail.request_id!) ?? [],
				source: sources.get(mail.id),
				dkim: keys.get(mail.from.split('@')[1]!),
			}
			void underWay.start([timed], () => finish(pass, mail, contents))
		}
	} finally {
		for (const id of large) largeMails.leave(id)
		gate.leave(project, unused)
		gate.recorded(unused)
	}
}

/** Hands an opened mail over when it is due, and records the outcome. */
async function finish(pass: Pass, mail: OpenedMail, contents: Contents) {
	const { services, project, recorder, underWay } = pass
	const { gate, largeMails } = services
	try {
		const waitMs = (pass.todo.get(mail.id)?.dueAt ?? 0) - performance.now()
		if (waitMs > 0) await sleep(waitMs)
		const making = () => compose(services, mail, contents)
		const ended = await handOver(services, mail, making).finally(() => {
			largeMails.leave(mail.id)
			gate.leave(project, 1)
		})
		await recorder.record(ended, underWay.count() === 1)
		remember(pass, mail, ended.end)
	} finally {
		gate.recorded(1)
	}
}

/** Updates what this pass still has to do for a mail after an attempt. */
function remember({ todo }: Pass, { id, attempt }: OpenedMail, end: AttemptEnd) {
	const mail = todo.get(id)
	if (!mail) return
	if (end.status === 'PENDING') {
		const dueAt = momentIn(end.dueInMs) ?? mail.dueAt
		Object.assign(mail, { status: 'PENDING', attempt, error: end.error, dueAt })
	} else if (end.status === 'UNCERTAIN' && mail.source_type === 'TRANSACTIONAL')
		Object.assign(mail, { status: 'UNCERTAIN', attemptStartedAt: performance.now() })
	else todo.delete(id)
}
