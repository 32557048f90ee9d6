import type { Pool } from 'pg'

export interface EventUsage {
	usedInSegments: { id: string; name: string }[]
	/** What the API calls workflows: triggers and waits. */
	usedInWorkflows: { id: string; name: string }[]
	askedAt: Date
}

/** Where a project refers to an event by its name. */
export async function eventUsage(_pool: Pool, _projectId: string, _name: string) {
	return { usedInSegments: [], usedInWorkflows: [], askedAt: new Date() } as EventUsage
}
