import { setTimeout as sleep } from 'node:timers/promises'
import { trackedUrls, trackingKey } from '../../mail/tracked-urls.ts'
import { randomFrom } from '../../test/helpers/random.ts'
import { api, createCampaign, type Progress, sendCampaign } from '../campaign/campaign-run.ts'
import { ask, type Caller, openCaller } from './fault-caller.ts'
import { signUp } from './fault-journey.ts'
import { nobody, type Taken } from './fault-provider.ts'
import { trackingSecret, type World } from './fault-world.ts'

export interface Load {
	/** For each address that was sent to: the mails in the answers. */
	sends: Map<string, string[]>
	/** For each requested event, by name and address: the event in the answer, if any. */
	events: Map<string, string | null>
	/** The number of contacts for each campaign. */
	campaigns: Map<string, number>
	/** The number of rows of each file, by its job. */
	imports: Map<string, number>
	/** Every request for a pixel or a link, with its mail and whether it was answered. */
	reads: { emailId: string; at: number; isAnswered: boolean }[]
	/** Answers with 5xx, and missing answers. */
	refusals: { at: number; what: string }[]
	/** Forbidden states that were seen during the load. */
	oddities: string[]
}

export interface Pace {
	seed: number
	/** For each campaign and each imported file; a new one of each starts every minute. */
	recipients: number
	rows: number
	/** How long callers repeat unanswered requests after the end. */
	patienceMs: number
}

const recordsEveryMs = 60_000
const reader = {
	'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
}

/**
 * The requests of all callers: single mails, events that start and wake executions, campaigns, imports,
 * opens and clicks. Some callers repeat each request under a key until they know its outcome, others make
 * it once.
 */
export async function load(world: World, pace: Pace, over: AbortSignal): Promise<Load> {
	const { stack, provider } = world
	const made: Load = {
		sends: new Map(),
		events: new Map(),
		campaigns: new Map(),
		imports: new Map(),
		reads: [],
		refusals: [],
		oddities: [],
	}
	let givenUpAt = Infinity
	over.addEventListener('abort', () => (givenUpAt = Date.now() + pace.patienceMs))
	const caller = openCaller(stack, made, () => Date.now() > givenUpAt)
	const arrived: Taken[] = []
	const urlsOf = (emailId: string) =>
		trackedUrls(trackingKey(trackingSecret), stack.apiUrl, {
			projectId: stack.projectId,
			campaignId: null,
			emailId,
		})
	const random = (salt: number) => randomFrom(pace.seed ^ salt)
	await Promise.all([
		repeatedly(12, random(1), (i, chance) => send(caller, made, i, chance)),
		repeatedly(4, random(2), (i, chance) => signUp(caller, made, i, chance < 0.5)),
		repeatedly(4, random(3), read),
		every(recordsEveryMs, (round) => campaign(round)),
		every(recordsEveryMs, (round) => upload(round)),
		every(300, watch),
		every(500, async () => void arrived.push(...(await provider.mails(arrived.length)))),
	])
	caller.close()
	return made

	/** Runs work this often per second, without waiting for earlier runs. */
	async function repeatedly(
		perSecond: number,
		{ next }: ReturnType<typeof randomFrom>,
		act: (i: number, chance: number) => Promise<void>,
	) {
		const acts: Promise<void>[] = []
		const startedAt = Date.now()
		for (let i = 0; !over.aborted; i++) {
			acts.push(act(i, next()))
			await sleep(Math.max(0, startedAt + ((i + 1) / perSecond) * 1000 - Date.now()))
		}
		await Promise.all(acts)
	}

	async function every(ms: number, act: (round: number) => Promise<void>) {
		for (let round = 0; !over.aborted; round++) {
			const nextAt = Date.now() + ms
			await act(round)
			await sleep(Math.max(0, nextAt - Date.now()), undefined, { signal: over }).catch(() => {})
		}
	}

	async function read(_i: number, chance: number) {
		const { emailId, to } = arrived[Math.floor(chance * arrived.length)] ?? {}
		// The links of campaigns contain their campaign.
		if (!emailId || !to || !made.sends.has(to)) return
		const { open, click } = urlsOf(emailId)
		const url = chance < 0.8 ? open : click('https://shop.example/offer')!
		const at = Date.now()
		const isAnswered = await fetch(url, { redirect: 'manual', headers: reader }).then(
			(answer) => answer.status < 400,
			() => false,
		)
		made.reads.push({ emailId, at, isAnswered })
	}

	async function campaign(round: number) {
		const cohort = `cohort ${round}`
		await seed(cohort, `c${round}`)
		const filter = { field: 'data.cohort', operator: 'equals', value: cohort }
		const id = await caller.insist(() =>
			createCampaign(stack, {
				audienceType: 'FILTERED',
				audienceCondition: { logic: 'AND', groups: [{ filters: [filter] }] },
			}),
		)
		if (id === undefined) return
		await caller.insist(async () => {
			const { status } = await api<{ status: string }>(stack, 'GET', `/campaigns/${id}`)
			if (status === 'DRAFT') await sendCampaign(stack, id)
		})
		made.campaigns.set(id, pace.recipients)
	}

	async function seed(cohort: string, name: string) {
		const rows = Array.from(
			{ length: pace.recipients },
			(_, i) => `${name}-${i}@example.org,${cohort}`,
		)
		await importing(['email,cohort', ...rows])
	}

	async function upload(round: number) {
		const rows = Array.from({ length: pace.rows }, (_, i) => `i${round}-${i}@example.org,Ann,pro`)
		await importing(['email,name,plan', ...rows, 'not an address,Bob,free'])
	}

	async function importing(lines: string[]) {
		const form = new FormData()
		form.append('file', new Blob([lines.join('\n')], { type: 'text/csv' }), 'contacts.csv')
		const headers = { authorization: `Bearer ${stack.secretKey}` }
		const jobId = await caller.insist(async () => {
			const answer = await fetch(`${stack.apiUrl}/contacts/import`, {
				method: 'POST',
				headers,
				body: form,
			})
			if (answer.status !== 202) throw new Error(`The upload was refused: ${await answer.text()}`)
			return ((await answer.json()) as { jobId: string }).jobId
		})
		if (jobId === undefined) return
		made.imports.set(jobId, lines.length - 1)
		await caller.insist(async () => {
			const { state } = await api<{ state: string }>(stack, 'GET', `/contacts/import/${jobId}`)
			if (state !== 'completed') throw new Error(`The import is ${state}`)
		})
	}

	/** The states of a campaign add up to its total at every instant. */
	async function watch() {
		for (const id of made.campaigns.keys()) {
			const now = await ask(() => api<Progress>(stack, 'GET', `/campaigns/${id}/progress`))
			if (!now) continue
			const { total, pending, sending, uncertain, sent, failed, skipped } = now
			if (pending + sending + uncertain + sent + failed + skipped !== total)
				made.oddities.push(`campaign ${id}: ${JSON.stringify(now)}`)
		}
	}
}

/** A third of the callers doesn't repeat; one mail in forty goes to an address that doesn't exist. */
async function send(caller: Caller, { sends }: Load, i: number, chance: number) {
	const to = `${chance > 0.975 ? nobody : 's'}-${i}@example.org`
	sends.set(to, [])
	const answer = await caller.post('/v1/send', chance < 0.33 ? null : `send ${i}`, {
		to,
		from: 'drill@example.com',
		subject: 'Drill',
		body: '<p>One mail, once. <a href="https://shop.example/offer">Offer</a></p>',
	})
	const told = answer as { data: { emails: { email: string }[] } } | null
	if (told) sends.set(to, [told.data.emails[0]!.email])
}
