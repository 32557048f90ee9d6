import { EllipsisVertical } from 'lucide-react'
import type { ListedWorkflow } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { IconButton } from '../parts/button.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Menu } from '../parts/menu.tsx'
import type { Column } from '../parts/table.tsx'
import { triggerInWords } from './step-words.ts'
import { useWorkflowActs } from './use-workflow-acts.ts'
import { useSegments } from './workflow-queries.ts'

/** The columns of the list, and the state of the acts in its last one. */
export function useWorkflowColumns() {
	const { data: segments = [] } = useSegments()
	const acts = useWorkflowActs()
	const names = {
		templates: new Map<string, string>(),
		segments: new Map(segments.map(({ id, name }) => [id, name])),
	}
	const columns: Column<ListedWorkflow>[] = [
		{ name: 'Name', cell: ({ name }) => name, width: '1.6fr' },
		{
			name: 'Starts',
			cell: ({ triggerType, triggerConfig }) =>
				triggerInWords({ type: triggerType, config: { ...triggerConfig } }, names),
			width: '2fr',
		},
		{
			name: 'State',
			cell: ({ enabled, version }) => (
				<Badge tone={enabled ? 'good' : 'none'}>
					{enabled ? `Enabled, version ${version}` : 'Disabled'}
				</Badge>
			),
			width: '150px',
		},
		{
			name: 'In it now',
			cell: ({ _count }) => formatCount(_count.active),
			width: '90px',
			isNumber: true,
		},
		{
			name: 'Ended',
			cell: ({ _count }) => formatCount(_count.executions - _count.active),
			width: '90px',
			isNumber: true,
		},
		{
			name: 'Actions',
			cell: (workflow) => (
				<Menu
					trigger={
						<IconButton name={`Acts on ${workflow.name}`} icon={<EllipsisVertical size={16} />} />
					}
					items={[
						{
							name: workflow.enabled ? 'Disable' : 'Enable',
							act: () => acts.setEnabled(workflow, workflow._count.active),
						},
						{ name: 'Duplicate', act: () => acts.duplicate(workflow) },
						null,
						{ name: 'Delete', isDestructive: true, act: () => acts.remove(workflow) },
					]}
				/>
			),
			width: '52px',
		},
	]
	return { acts, columns }
}
