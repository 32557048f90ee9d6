import { performance } from 'node:perf_hooks'
import { trackEvent } from '../../db/events/tracking.ts'
import { median } from '../load.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { poolOfStack } from './automation-stack.ts'

const rounds = 10
const events = 500

/**
 * The cost that automations add to an event that starts none: the same statement with and without the
 * trigger, in turns, in a project that has automations for other events.
 */
export async function trackingCost(stack: Stack): Promise<Row[]> {
	const pool = await poolOfStack(stack)
	const times = { with: [] as number[], without: [] as number[] }
	for (let round = 0; round < rounds; round++)
		for (const kind of ['with', 'without'] as const) {
			const word = kind === 'with' ? 'enable' : 'disable'
			await pool.query(`alter table events ${word} trigger events_start_executions`)
			const startedAt = performance.now()
			for (let i = 0; i < events; i++)
				await trackEvent(pool, {
					projectId: stack.projectId,
					email: `cost-${i}@example.org`,
					subscribed: null,
					data: {},
					removedKeys: [],
					eventName: 'nobody-cares',
					eventData: {},
					key: null,
					claimId: null,
				})
			// The first round of each creates the contacts and the plans.
			if (round > 0) times[kind].push((performance.now() - startedAt) / events)
		}
	await pool.query('alter table events enable trigger events_start_executions')
	const bare = median(times.without)
	const heard = median(times.with)
	return [
		{
			what: 'tracking an event that matches nothing',
			reached: `${heard.toFixed(3)} ms`,
			target: '<= 110 % of plain',
			floor: `${bare.toFixed(3)} ms (without the trigger)`,
			isMet: heard <= 1.1 * bare,
		},
	]
}
