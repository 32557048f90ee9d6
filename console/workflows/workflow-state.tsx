import type { WorkflowWithSteps } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Soft } from '../parts/page.tsx'
import { useVersions } from './workflow-queries.ts'

/** Which version new people get, and which old ones people are still on. */
export function WorkflowState({ workflow }: { workflow: WorkflowWithSteps }) {
	const { data: versions = [] } = useVersions(workflow.id)
	const { enabled, version } = workflow
	const older = versions.filter(
		(one) => one.activeExecutions > 0 && (!enabled || one.version !== version),
	)
	return (
		<>
			<Badge tone={enabled ? 'good' : 'none'}>{enabled ? 'Enabled' : 'Disabled'}</Badge>
			<Soft>
				{enabled ? `New people get version ${version}.` : 'Nobody new enters.'}
				{older.length > 0 && ` ${stillOn(older)}`}
			</Soft>
		</>
	)
}

function stillOn(versions: { version: number; activeExecutions: number }[]) {
	const people = versions.reduce((sum, { activeExecutions }) => sum + activeExecutions, 0)
	const numbers = versions.map(({ version }) => version).toSorted((one, other) => one - other)
	const shown =
		numbers.length > 4 ? [...numbers.slice(0, 3), `${numbers.length - 3} more`] : numbers
	const names =
		shown.length === 1 ? String(shown[0]) : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
	return `${people === 1 ? '1 person is' : `${formatCount(people)} people are`} still on version${numbers.length === 1 ? '' : 's'} ${names}.`
}
