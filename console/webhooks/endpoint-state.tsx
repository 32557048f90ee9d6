import type { WebhookEndpoint } from '../../client/index.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { countedUpToMost } from '../parts/counted.ts'

const states: Record<WebhookEndpoint['health']['state'], [string, Tone]> = {
	new: ['New', 'info'],
	healthy: ['Healthy', 'good'],
	failing: ['Failing', 'bad'],
	disabled: ['Disabled', 'none'],
}

export function EndpointState({ endpoint }: { endpoint: WebhookEndpoint }) {
	const [name, tone] = states[endpoint.health.state]
	return <Badge tone={tone}>{name}</Badge>
}

export const waitingOf = ({ health: { waiting } }: WebhookEndpoint) => countedUpToMost(waiting)

const disabled: Record<NonNullable<WebhookEndpoint['disabledReason']>, string> = {
	OWNER: 'It was disabled by a member or with the secret key.',
	GONE: 'It was disabled because it answered 410 Gone.',
	FAILING: 'It was disabled because no delivery succeeded for five days.',
}

/** What is wrong with it, and what to do; undefined if all is well. */
export function adviceOf({ disabledReason, health }: WebhookEndpoint) {
	if (disabledReason !== null)
		return `${disabled[disabledReason]} Its events are kept for 30 days: enable it, then replay what it missed.`
	if (health.state === 'failing')
		return 'The latest tries failed. The deliveries below show the answers. Once it works again, a test that succeeds delivers what waits at once.'
	return undefined
}
