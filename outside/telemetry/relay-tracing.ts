import type { OutboxRow } from '../../db/outbox/claims.ts'
import { tracer } from './tracer.ts'

/** The call to Temporal belongs to the span that wrote the row, not to the span that woke the relay. */
export const followRow = <T>(row: OutboxRow, telling: () => Promise<T>): Promise<T> => {
	if (!row.trace) return tracer.outside(telling)
	const about = { kind: 'producer', parent: row.trace, links: row.trace_links } as const
	return tracer.span(`${row.kind} ${row.workflow_type ?? 'workflow'}`, about, telling)
}
