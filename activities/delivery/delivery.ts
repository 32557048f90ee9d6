import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type AttemptEnd, open, type OpenMail, record } from '../../db/emails/ledger.ts'
import type { DkimKey } from '../rendering/dkim.ts'
import type { Gate } from './gate.ts'
import { handOver, type HandoverServices, loadAttachments, loadSources } from './handover.ts'
import { momentIn, napMs, timed, type TimedMail, untilNext } from './moments.ts'
import { prepare } from './preparation.ts'
import { createRecorder } from './recorder.ts'
import { aheadMs, payFor } from './send-rate.ts'

export interface DeliveryServices extends HandoverServices {
	pool: Pool
	gate: Gate
	/** Mails that this process is handing over, whichever of its runs: none of them has lost its worker. */
	inHand: Set<string>
	dkimKeys(projectId: string, domains: string[]): Promise<Map<string, DkimKey | undefined>>
	settings: HandoverServices['settings'] & {
		/** For projects that do not say otherwise; 0 is unlimited. */
		sendRatePerSecond: number
		uncertainAfterMs: number
	}
	/** The process is to end: hand nothing more over. */
	stopping: AbortSignal
}

/** What is left of a set, and when to look at it again. */
export interface Rest {
	/** What this pass has settled, one way or another. */
	settled: number
	left: number
	waitMs: number
	because: string
}

/** Longer waits belong to the workflow: they must survive this process, and free its place. */
const longestInlineWaitMs = 5000
/** How often suppressions, cancellations and the like are looked up again during a long set. */
const refreshMs = 2000
/** After this a set goes back to its workflow, which asks for it again. */
const longestPassMs = 20 * 60_000
const sliceMails = 50
const gatherMs = 5
/** What the mails of a set may weigh while they are under way; a larger one goes alone. */
const flyingBytesMost = 32 * 2 ** 20

/**
 * Delivers a set of mails of one project: settles what must not go, waits for send rate, opens attempts
 * just before the hand-over, and records how they end. Mails of one request go one after the other.
 * Safe to run again at any moment, even beside an earlier run of the same set that still lives.
 */
export async function deliver(
	services: DeliveryServices,
	load: () => Promise<OpenMail[]>,
): Promise<Rest> {
	const { pool, gate, inHand, pause, settings, stopping } = services
	const read = async () => (await load()).map(timed)
	const loaded = await read()
	let todo = await prepare(services, loaded, new Set())
	const startedAt = performance.now()
	let refreshed = startedAt
	const first = todo.values().next().value
	if (!first) return { settled: loaded.length, left: 0, waitMs: 0, because: '' }
	const project = first.project_id
	const recorder = createRecorder({
		write: (ended: { end: AttemptEnd }[]) =>
			record(pool, [project, JSON.stringify(ended.map(({ end }) => end))]),
		gatherMs,
	})
	const flying = new Set<string>()
	let flyingBytes = 0
	const bytesOf = new Map(loaded.map(({ id, bytes }) => [id, bytes]))
	const busyRequests = new Set<string | null>()
	let landed = Promise.withResolvers<void>()
	let failure: unknown

	try {
		const early = await work()
		if (early) return early
	} finally {
		// Nobody walks away from a hand-over: its outcome would be lost.
		while (flying.size > 0) await landed.promise
	}
	if (failure) throw failure
	return rest(0, '')

	function rest(waitMs: number, because: string): Rest {
		// It goes into Temporal's history, where no address of anybody belongs.
		const masked = because.replaceAll(/\S+@\S+/g, '<address>')
		return { settled: loaded.length - todo.size, left: todo.size, waitMs, because: masked }
	}

	async function work(): Promise<Rest | undefined> {
		while (todo.size > 0 && !failure) {
			if (performance.now() - refreshed > refreshMs) {
				todo = await prepare(services, await read(), flying)
				refreshed = performance.now()
			}
			const leaving = stopping.aborted || performance.now() - startedAt > longestPassMs
			const ready = leaving ? [] : await payFor(services, todo, pickReady())
			if (ready.length > 0) {
				await launch(ready)
				continue
			}
			if (leaving && flying.size === 0) return rest(0, 'another worker goes on')
			const waitMs = pause.remainingMs() || untilNext(todo.values(), settings.uncertainAfterMs)
			if (flying.size === 0 && waitMs > longestInlineWaitMs)
				return rest(waitMs, pause.reason() ?? lastAnswer() ?? 'not due yet')
			await Promise.race([landed.promise, sleep(Math.min(waitMs, napMs))])
		}
		return undefined
	}

	/** What the provider said of the mail that goes next. */
	function lastAnswer() {
		let next: TimedMail | undefined
		for (const mail of todo.values())
			if (mail.error && (!next || (mail.dueAt ?? 0) < (next.dueAt ?? 0))) next = mail
		return next?.error
	}

	/** The next mail of each request that is due, as many as memory and courtesy allow. */
	function pickReady(): TimedMail[] {
		if (pause.remainingMs() > 0) return []
		const most = pause.isProbing() ? (flying.size > 0 ? 0 : 1) : sliceMails
		const soon = performance.now() + aheadMs
		const requests = new Set(busyRequests)
		const picked: TimedMail[] = []
		let bytes = flyingBytes
		for (const mail of todo.values()) {
			if (picked.length >= most || bytes > flyingBytesMost) break
			if (mail.status !== 'PENDING' || flying.has(mail.id)) continue
			if (mail.dueAt !== null && mail.dueAt > soon) continue
			if (mail.request_id) {
				if (requests.has(mail.request_id)) continue
				requests.add(mail.request_id)
			}
			picked.push(mail)
			bytes += mail.bytes
		}
		return picked
	}

	async function launch(ready: TimedMail[]) {
		const keys = await services.dkimKeys(project, [...new Set(ready.map((mail) => mail.domain))])
		const places = await gate.enter(project, ready.length)
		let unused = places
		try {
			// The wait for a place may have been long.
			if (stopping.aborted || pause.remainingMs() > 0) return
			const leaving = ready.slice(0, places)
			const ids = leaving.map((mail) => mail.id)
			// Before they are opened: a fault of the database here must leave none of them in doubt.
			const files = await loadAttachments(pool, leaving)
			const sources = await loadSources(pool, leaving)
			const opened = await open(pool, [project, ids, services.provider.name])
			unused = places - opened.length
			// Whatever is not ours any more was settled or opened by somebody else: the next look will tell.
			const ours = new Set(opened.map((mail) => mail.id))
			for (const id of ids) if (!ours.has(id)) todo.get(id)!.status = 'SENDING'
			opened.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
			for (const mail of opened) {
				flying.add(mail.id)
				inHand.add(mail.id)
				flyingBytes += bytesOf.get(mail.id) ?? 0
				busyRequests.add(mail.request_id)
				const attachments = files.get(mail.request_id!) ?? []
				const contents = { attachments, source: sources.get(mail.id) }
				void fly(mail, contents, keys.get(mail.from.split('@')[1]!))
			}
		} finally {
			gate.leave(project, unused)
			gate.recorded(unused)
		}
	}

	async function fly(...[mail, contents, key]: Flight) {
		try {
			const waitMs = (todo.get(mail.id)?.dueAt ?? 0) - performance.now()
			if (waitMs > 0) await sleep(waitMs)
			const end = await handOver(services, mail, contents, key).finally(() =>
				gate.leave(project, 1),
			)
			await recorder.record({ end }, flying.size === 1)
			const open = todo.get(mail.id)
			if (open && end.status === 'PENDING')
				Object.assign(open, {
					status: 'PENDING',
					attempt: mail.attempt,
					error: end.error,
					dueAt: momentIn(end.dueInMs) ?? open.dueAt,
				})
			else if (open && end.status === 'UNCERTAIN' && open.source_type === 'TRANSACTIONAL')
				Object.assign(open, {
					status: 'UNCERTAIN',
					attemptStartedAt: performance.now(),
				})
			else todo.delete(mail.id)
		} catch (error) {
			failure = error
		} finally {
			flying.delete(mail.id)
			inHand.delete(mail.id)
			flyingBytes -= bytesOf.get(mail.id) ?? 0
			busyRequests.delete(mail.request_id)
			gate.recorded(1)
			landed.resolve()
			landed = Promise.withResolvers()
		}
	}
}

type Flight = Parameters<typeof handOver> extends [unknown, ...infer Rest] ? Rest : never
