// Records the histories of today's workflows, against which test/replay.test.ts replays future code: node
// --import=tsx test/run.ts node --import=tsx test/histories/record.ts [start of a name]…
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { FirstRest } from '../../activities/delivery/deliveries.ts'
import type { Rest } from '../../activities/delivery/delivery.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { withWorkers } from '../helpers/workflow.ts'

const settled: Rest = { settled: 2, left: 0, waitMs: 0, because: '' }
const waiting: Rest = { settled: 1, left: 2, waitMs: 300, because: 'Connection refused' }
const leaving: Rest = { settled: 1, left: 2, waitMs: 0, because: 'another worker goes on' }

const runs: Record<string, (FirstRest | null)[]> = {
	'send-at-once': [settled],
	'send-after-a-wait': [waiting, waiting, settled],
	'send-handed-on': [leaving, waiting, settled],
	'send-not-at-once': [null, settled],
	'send-slow-at-first': [{ ...leaving, worker: 'gone' }, settled],
}

for (const [name, script] of Object.entries(runs)) {
	const rests = script.values()
	const next = async () => rests.next().value
	await record(name, { deliverClaimAtOnce: next, deliverClaim: next }, { claimId: name })
}

const job = { projectId: 'project', jobId: 'job' }
const refuse = async () => {
	throw ApplicationFailure.nonRetryable('out of range', 'Postgres 22003')
}
const nothing = async () => {}
const jobTurns = (...needMore: boolean[]) => {
	const answers = needMore.values()
	return async () => answers.next().value
}
const importing = { stageImport: async () => true, applyImport: jobTurns(false), clearImport: nothing }
await record('importContacts-whole', importing, job)
await record('importContacts-unreadable', { ...importing, stageImport: async () => false }, job)
const failing = { ...importing, applyImport: refuse, endAsFailed: nothing }
await record('importContacts-failed', failing, job)
const applying = { ...importing, applyImport: jobTurns(true, true, false) }
await record('importContacts-in-turns', applying, job)
await record('undoImport-whole', { undoImport: jobTurns(false) }, job)
await record('undoImport-in-turns', { undoImport: jobTurns(true, false) }, job)
await record('undoImport-failed', { undoImport: refuse, endAsFailed: nothing }, job)
await record('bulkJob-whole', { doBulkJob: jobTurns(false) }, job)
await record('bulkJob-in-turns', { doBulkJob: jobTurns(true, false) }, job)
await record('bulkJob-failed', { doBulkJob: refuse, endAsFailed: nothing }, job)

const checks = { checked: 50, verified: 2, lost: 1 }
const checkedPages = [{ ...checks, isLast: false }, { ...checks, isLast: true }].values()
await record('domainSweep-two-pages', { checkDomains: async () => checkedPages.next().value }, {})
const removed = { providerDomainId: 'domain' }
await record('removeDomain-whole', { removeProviderDomain: nothing }, removed)

await record('housekeeping-whole', { keepHouse: async () => 'sessions: 3' }, {})

const swept = { computed: 20, failed: 0, added: 5, removed: 1 }
const pages = [{ ...swept, isLast: false }, { ...swept, isLast: true }].values()
await record('segmentSweep-two-pages', { sweepSegments: async () => pages.next().value }, {})

const removals = [{ removed: 9000, isLast: false }, { removed: 3, isLast: true }].values()
const openRuns = [7, 0, 0].values()
const removing = {
	endProjectRuns: async () => openRuns.next().value,
	removeProjectRows: async () => removals.next().value,
}
await record('deleteProject-two-pages', removing, { projectId: 'project' })
const errandLeft = { removed: 3, isLast: false, waitMs: 300 }
const lastPages = [errandLeft, { removed: 0, isLast: true }].values()
const waitingOutside = {
	endProjectRuns: async () => 0,
	removeProjectRows: async () => lastPages.next().value,
}
await record('deleteProject-with-errands', waitingOutside, { projectId: 'project' })

const sweeping = { sweepProviderEvents: async () => ({ matched: 2, forgotten: 0 }) }
await record('providerEventSweep-whole', sweeping, {})
const suspending = { stopCampaigns: async () => 1, cancelQueuedMail: async () => 7, tellMembers: nothing }
await record('suspendProject-whole', suspending, { projectId: 'project', suspensionId: 'suspension' })

const reporting = { reportUsage: async () => '3 reported, 0 left, 0 of them in doubt' }
await record('usageReporting-whole', reporting, {})
const ending = { subscriptionId: 'sub_1', customerId: 'cus_1', unreported: 12 }
await record('endSubscription-whole', { endSubscription: nothing }, ending)

const key = { projectId: 'project', executionId: 'execution' }
const sleeping = { do: 'SLEEP', about: 'sleeps', ms: 200 }
const waitingFor = { do: 'WAIT', about: 'waits' }
const finished = { do: 'END', about: 'COMPLETED' }
const along = (stops: object[], other: object = {}) => ({
	advanceExecution: async (_: object, done: number) => ({ visit: done + 1, ...stops[done] }),
	performStep: nothing,
	failExecution: nothing,
	cancelExecution: nothing,
	...other,
})
const course = [
	{ ...waitingFor, ms: 100 },
	{ ...waitingFor, ms: 60_000 },
	{ ...waitingFor, ms: null },
	{ do: 'CALL', about: 'calls' },
	sleeping,
	finished,
]
await record('automation-course', along(course), key, async (handle) => {
	// One before its wait, one late, one without a wait.
	for (const visit of [3, 2, 1, 9, 2]) await handle.signal('eventArrived', { visit })
})
const shown = course.map((stop, i) => ({
	...stop,
	stepId: `step-${i}`,
	since: '2026-11-22T12:00:00.000Z',
	isShown: true,
}))
await record('automation-shown', along(shown), key, async (handle) => {
	for (const visit of [2, 3]) await handle.signal('eventArrived', { visit })
})
const broken = { ...finished, failed: 'WebhookFailed: It answered 400' }
await record('automation-failed', along([sleeping, broken]), key)
await record(
	'automation-queued',
	along([{ do: 'QUEUE' }, { do: 'QUEUE' }], {
		advanceInTurn: async (_: object, done: number) => ({
			visit: done + 1,
			...[sleeping, finished][done],
		}),
	}),
	key,
)
await record('automation-unable', along([sleeping], { advanceExecution: refuse }), key)
const enrolled = [{ enrolled: 500, last: 'contact' }, { enrolled: 7, last: null }].values()
const enrolling = { enrolSome: async () => enrolled.next().value }
await record('enrol-two-pages', enrolling, { projectId: 'project', automationId: 'automation' })
const cancelling = { cancelExecutionsOf: async () => 7 }
const ofAutomations = { projectId: 'project', automationIds: ['automation'] }
await record('cancelExecutions-whole', cancelling, ofAutomations)
const closings = [{ closed: 2000, isLast: false }, { closed: 7, isLast: true }].values()
const closing = { closeRuns: async () => closings.next().value }
await record('closeExecutions-two-pages', closing, { projectId: 'project' })
const looks = [{ closed: 7, isLast: true }, { closed: 1, isLast: true }].values()
const looking = Promise.withResolvers<void>()
const interrupted = {
	closeRuns: async () => {
		const look = looks.next().value
		if (look?.closed === 7) await looking.promise
		return look
	},
}
await record('closeExecutions-told-of-more', interrupted, { projectId: 'project' }, async (handle) => {
	await handle.signal('moreEnded', { projectId: 'project' })
	looking.resolve()
})
await record('automation-cancelled', along([{ ...waitingFor, ms: null }]), key, (handle) =>
	handle.cancel(),
)

const sums = { total: 12_000, settled: 0, said: 'in words' }
const campaigning = (acts: object[], rests: Rest[] = [], other: object = {}) => {
	const [nexts, passes] = [acts.values(), rests.values()]
	return {
		advanceCampaign: async () => ({ ...sums, ...nexts.next().value }),
		sendCampaignPages: async () => passes.next().value ?? settled,
		materialiseCampaign: async () => true,
		cancelRecipients: nothing,
		holdCampaign: nothing,
		...other,
	}
}
const told = (handle: { signal(name: string): Promise<void> }) => handle.signal('changed')
const campaignKey = { projectId: 'project', campaignId: 'campaign' }
const forever = { act: 'wait', waitMs: null }
const begun = [
	{ act: 'materialise', lanes: 3 },
	{ act: 'send', lanes: 3 },
	{ act: 'send', lanes: 3 },
]
const scheduled = [{ act: 'wait', waitMs: 60_000 }, { act: 'wait', waitMs: 100 }, ...begun]
const idle: Rest = { settled: 0, left: 5, waitMs: 0, because: 'paused' }
await record(
	'campaign-scheduled',
	campaigning([...scheduled, { act: 'end' }], [waiting, leaving, idle]),
	campaignKey,
	told,
)
await record(
	'campaign-cancelled',
	campaigning([forever, { act: 'cancel' }, { act: 'end' }]),
	campaignKey,
	told,
)
await record(
	'campaign-held',
	campaigning([{ act: 'materialise', lanes: 2 }, { act: 'wait', waitMs: 300 }, { act: 'end' }], [], {
		materialiseCampaign: refuse,
	}),
	campaignKey,
)
const stuck = Array.from({ length: 3 }, () => idle)
await record(
	'campaign-stuck',
	campaigning([{ act: 'send', lanes: 3 }, { act: 'end' }], stuck),
	campaignKey,
)
// The second worker is never there.
await record(
	'campaign-shared',
	campaigning([{ act: 'send', lanes: 2, workers: ['one', 'gone'] }, { act: 'end' }]),
	campaignKey,
)

const endpointKey = { projectId: 'project', endpointId: 'endpoint' }
const turns = (...waits: (number | null)[]) => {
	const rests = waits.values()
	return { deliverWebhooks: async () => ({ waitMs: rests.next().value, said: '3 posted' }) }
}
await record('webhooks-at-once', turns(null), endpointKey)
await record('webhooks-with-retries', turns(0, 300, null), endpointKey)
await record('webhooks-called', turns(60_000, null), endpointKey, async (handle) => {
	await handle.signal('eventsArrived', endpointKey)
})
await record('replayWebhooks-whole', { doReplay: jobTurns(false) }, job)
await record('replayWebhooks-in-turns', { doReplay: jobTurns(true, false) }, job)
await record('replayWebhooks-failed', { doReplay: refuse, endAsFailed: nothing }, job)

/** The part of a name before its first hyphen is the workflow's type. */
async function record(
	name: string,
	activities: object,
	argument: object,
	during: (handle: WorkflowHandle) => Promise<unknown> = async () => {},
) {
	const wanted = process.argv.slice(2)
	if (wanted.length > 0 && !wanted.some((prefix) => name.startsWith(prefix))) return
	const [type] = name.split('-') as [string]
	await withWorkers(activities, async ({ workflow }) => {
		const workflowId = `${type}/${name}`
		const options = { taskQueue: taskQueues.core, workflowId, args: [argument] }
		const handle = await workflow.start(type, options)
		await during(handle)
		// A failed run is recorded, too.
		await handle.result().catch((error: unknown) => {
			if (!(error instanceof WorkflowFailedError)) throw error
		})
		const history = await handle.fetchHistory()
		const file = new URL(`${name}.json`, import.meta.url)
		// A history must not contain this machine's path.
		const root = new URL('../..', import.meta.url).pathname
		const text = `${historyToJSON(history).replaceAll(root, '')}\n`
		keepOther(name, file, text)
		await writeFile(file, text)
		console.log(`${name}: ${history.events!.length} events`)
	})
}

/** A different run is kept beside the new one, named with the commit that recorded it. */
function keepOther(name: string, file: URL, text: string) {
	if (!existsSync(file) || courseOf(readFileSync(file, 'utf8')) === courseOf(text)) return
	const last = ['log', '-1', '--format=%h', '--', file.pathname]
	const commit = execFileSync('git', last, { encoding: 'utf8' }).trim()
	if (commit) renameSync(file, new URL(`${name}@${commit}.json`, import.meta.url))
}

interface RecordedEvent {
	eventType: string
	activityTaskScheduledEventAttributes?: { activityType: { name: string }; taskQueue: { name: string } }
}

/** The commands, their queues and the events, regardless of how they were split into tasks. */
function courseOf(text: string) {
	return (JSON.parse(text) as { events: RecordedEvent[] }).events
		.filter(({ eventType }) => !eventType.startsWith('EVENT_TYPE_WORKFLOW_TASK'))
		.map(({ eventType, activityTaskScheduledEventAttributes: activity }) => [
			eventType,
			activity?.activityType.name,
			activity?.taskQueue.name,
		])
		.join()
}
