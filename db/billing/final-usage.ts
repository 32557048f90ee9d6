import { isCleanup } from '../outbox/cleanups.ts'
import { bool, int, text } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { identifierLifeHours } from './usage-reporting.ts'

// The usage of a deleted project that was not reported. Its rows are gone: the amount is in the outbox row of the run
// that ends the subscription. That row stays until the subscription has ended, which may take days.

const ofRun = `workflow_id = $workflowId and ${isCleanup}`

/** Marks a try immediately before its request. No row: the subscription has ended. */
export const attemptFinalUsage = statement('attempt-final-usage', {
	params: { workflowId: text },
	row: {
		unreported: int,
		/** No earlier try may have reached Stripe. */
		is_first: bool,
		/** Stripe still recognises a repeat. */
		is_repeatable: bool,
	},
	text: `update outbox set payload = jsonb_build_object('attemptedAt', now()) || payload
	where ${ofRun}
	returning (payload->>'unreported')::int as unreported, old.payload->'attemptedAt' is null as is_first,
		(payload->>'attemptedAt')::timestamptz > now() - interval '${identifierLifeHours} hours' as is_repeatable`,
})

/** The only try was turned away before Stripe looked at it. */
export const unmarkFinalUsage = statement('unmark-final-usage', {
	params: { workflowId: text },
	text: `update outbox set payload = payload - 'attemptedAt' where ${ofRun}`,
})

/** Stripe has counted it. */
export const confirmFinalUsage = statement('confirm-final-usage', {
	params: { workflowId: text },
	text: `update outbox set payload = payload || '{"unreported": 0}' where ${ofRun}`,
})
