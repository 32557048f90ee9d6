import type { Claim } from './claim-source.ts'
import { isLarge } from './large-mails.ts'
import type { TimedMail } from './moments.ts'
import { aheadMs } from './send-rate.ts'

const mostPicked = 50
/** Limits the memory of a claim's mails under way. A larger mail is sent alone. */
const mostBytesUnderWay = 32 * 2 ** 20

/** Picks the next due mail of each request, as many as memory allows. */
export function pickReady(
	{ services, projectId, todo, underWay }: Claim,
	most: number,
): TimedMail[] {
	const soon = performance.now() + aheadMs
	const requests = new Set<string>()
	let bytes = 0
	for (const mail of underWay.mails.values()) {
		if (mail.request_id) requests.add(mail.request_id)
		bytes += mail.bytes
	}
	const picked: TimedMail[] = []
	for (const mail of todo.values()) {
		if (picked.length >= Math.min(most, mostPicked) || bytes > mostBytesUnderWay) break
		if (mail.status !== 'PENDING' || underWay.mails.has(mail.id)) continue
		if (mail.dueAt !== null && mail.dueAt > soon) continue
		if (mail.request_id) {
			if (requests.has(mail.request_id)) continue
			requests.add(mail.request_id)
		}
		if (isLarge(mail) && !services.largeMails.hasRoom(projectId, mail.id)) continue
		picked.push(mail)
		bytes += mail.bytes
	}
	return picked
}
