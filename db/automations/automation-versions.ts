import { statement } from '../statement.ts'
import type { AutomationDefinition } from './automation-definition.ts'

export interface VersionRecord {
	version: number
	createdAt: Date
	hash: string
}

/** Newest first. $1 project, $2 automation */
export const listVersions = statement<VersionRecord>(
	'list-automation-versions',
	`select version, created_at as "createdAt", hash from automation_versions
	where project_id = $1 and automation_id = $2::uuid order by version desc`,
)

/** $1 project, $2 automation, $3 version */
export const findVersion = statement<
	VersionRecord & {
		definition: AutomationDefinition
		positions: Record<string, { x: number; y: number }>
	}
>(
	'find-automation-version',
	`select version, created_at as "createdAt", hash, definition, positions from automation_versions
	where project_id = $1 and automation_id = $2::uuid and version = $3::int`,
)

/** Which of the templates are still there. $1 project, $2 ids */
export const existingTemplates = statement<{ id: string }>(
	'existing-templates',
	`select id from templates where project_id = $1 and id = any($2::uuid[]) for key share`,
)
