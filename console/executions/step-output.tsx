import { dataText } from '../contacts/data-text.ts'
import { Time } from '../parts/time.tsx'
import { recordOf } from '../workflows/step-words.ts'

interface Props {
	of: Record<string, unknown>
	/** The branch that was taken, in words. */
	branch: string
}

/** What a step did, in sentences. */
export function StepOutput({ of, branch }: Props) {
	const { recipientEmail, sentAt, eventName, receivedAt, timedOut, eventData } = of
	const { data, subscribed, statusCode, note, response } = of
	const fields = Object.entries(recordOf(data))
	const set = fields.filter(([, value]) => value !== null)
	const removed = fields.filter(([, value]) => value === null).map(([name]) => name)
	return (
		<>
			{typeof recipientEmail === 'string' && `To ${recipientEmail}. `}
			{typeof sentAt === 'string' && <At word="Sent" at={sentAt} />}
			{typeof eventName === 'string' && `The event “${eventName}” happened. `}
			{typeof receivedAt === 'string' && <At word="Received" at={receivedAt} />}
			{timedOut === true && 'The event did not happen in time. '}
			{branch && `Took the branch “${branch}”. `}
			{set.length > 0 && `Set ${namesAndValues(Object.fromEntries(set))}. `}
			{removed.length > 0 && `Removed ${removed.join(', ')}. `}
			{typeof subscribed === 'boolean' &&
				`The contact is ${subscribed ? 'subscribed' : 'not subscribed'}. `}
			{typeof statusCode === 'number' && `Answered ${statusCode}. `}
			{typeof note === 'string' && `${note}. `}
			{/* Last, because it may be long. */}
			{namesAndValues(eventData ?? response)}
		</>
	)
}

const At = ({ word, at }: { word: string; at: string }) => (
	<>
		{word} <Time at={at} as="date" />.{' '}
	</>
)

/** Data of a customer, whose names are words of theirs. */
export function namesAndValues(of: unknown) {
	if (of === undefined || of === null) return ''
	const fields = Object.entries(recordOf(of))
	if (fields.length === 0) return JSON.stringify(of) === '{}' ? '' : dataText(of)
	return fields.map(([name, value]) => `${name}: ${dataText(value)}`).join(', ')
}
