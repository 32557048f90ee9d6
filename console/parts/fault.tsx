import { TempostError } from '../../client/index.ts'
import { Button } from './button.tsx'
import styles from './fault.module.css'

/** What went wrong, in the API's words, what to do, and the id that finds the request in the logs. */
export function Fault({ error, retry }: { error: unknown; retry?: () => void }) {
	if (!error) return null
	const known = error instanceof TempostError ? error : undefined
	return (
		<div className={styles.fault} role="alert">
			<p className={styles.message}>{messageOf(error)}</p>
			{known && suggestionOf(known) && <p>{suggestionOf(known)}</p>}
			{known && !isSaid(known) && (
				<ul>
					{known.fields.map(({ field, message }) => (
						<li key={field + message}>
							<code>{field}</code> {message}
						</li>
					))}
				</ul>
			)}
			{known?.requestId && (
				<p className={styles.id}>
					Request <code>{known.requestId}</code>
				</p>
			)}
			{retry && <Button onClick={retry}>Try again</Button>}
		</div>
	)
}

/** A single field is often named by the message already. */
const isSaid = ({ message, fields }: TempostError) =>
	fields.length === 0 || (fields.length === 1 && message.includes(fields[0]!.message))

const messageOf = (error: unknown) =>
	error instanceof Error ? error.message : 'Something went wrong'

/** The client's own advice is for programs, and so is the API's where it names requests. */
function suggestionOf({ code, status, suggestion }: TempostError) {
	if (code === 'NETWORK_ERROR') return 'Check your connection, then try again.'
	if (suggestion && !isForPrograms.test(suggestion)) return suggestion
	if (status === 429 || status >= 500) return 'Try again in a moment.'
	return status === 404 ? 'It may be deleted, or the address may be old.' : undefined
}

const isForPrograms = /\b(GET|POST|PUT|PATCH|DELETE) \/|If-Match|\bheader\b|send the request/i
