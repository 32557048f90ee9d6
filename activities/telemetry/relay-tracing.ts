import type { OutboxRow } from '../../db/outbox/claims.ts'
import { tracer } from './tracer.ts'

/** What Temporal is told belongs to whoever wrote the row, not to whoever woke the relay. */
export const followRow = <T>(row: OutboxRow, telling: () => Promise<T>): Promise<T> => {
	if (!row.trace) return tracer.outside(telling)
	const about = { kind: 'producer', parent: row.trace, links: row.trace_links } as const
	return tracer.span(`${row.kind} ${row.workflow_type ?? 'workflow'}`, about, telling)
}
