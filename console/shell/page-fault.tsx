import type { ErrorComponentProps } from '@tanstack/react-router'
import { Fault } from '../parts/fault.tsx'

const missing = new WeakSet<object>()

/** A part of the console that could not be loaded. */
export const markMissing = (error: Error) => missing.add(error)

/** Instead of a page that failed; the navigation stays. */
export function PageFault({ error, reset }: ErrorComponentProps) {
	if (!(error instanceof Error && missing.has(error))) return <Fault error={error} retry={reset} />
	// A browser may remember that a part could not be loaded, until its page is loaded again.
	return (
		<Fault
			error={new Error('This page cannot be loaded. Check your connection, then try again.')}
			retry={() => location.reload()}
		/>
	)
}
