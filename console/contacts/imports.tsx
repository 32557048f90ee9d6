import { Link } from '@tanstack/react-router'
import type { ListedImport } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Badge, Status } from '../parts/badge.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useCursorList } from '../parts/use-list.ts'
import { useProject } from '../shell/projects.ts'

const count = (value: number | undefined) => (value === undefined ? '–' : formatCount(value))

const columns: Column<ListedImport>[] = [
	{ name: 'File', cell: (job) => <File job={job} />, width: '2fr' },
	{ name: 'State', cell: (job) => <State job={job} />, width: '120px' },
	{
		name: 'Created',
		cell: ({ result }) => count(result?.createdCount),
		width: '90px',
		isNumber: true,
	},
	{
		name: 'Updated',
		cell: ({ result }) => count(result?.updatedCount),
		width: '90px',
		isNumber: true,
	},
	{
		name: 'Not imported',
		cell: ({ result }) => count(result?.failureCount),
		width: '110px',
		isNumber: true,
	},
	{ name: 'When', cell: ({ createdAt }) => <Time at={createdAt} />, width: '120px' },
]

function File({ job: { id, fileName } }: { job: ListedImport }) {
	const { project } = useProject()
	return (
		<Link
			to="/console/$projectId/contacts/import"
			params={{ projectId: project.id }}
			search={{ job: id }}
		>
			{fileName ?? 'Without a name'}
		</Link>
	)
}

function State({ job: { state, undo } }: { job: ListedImport }) {
	if (undo) return <Badge>{undo.state === 'completed' ? 'Undone' : 'Being undone'}</Badge>
	return <Status status={state} />
}

/** All imports of the project, by members and by programs. They can be undone for seven days. */
export function Imports() {
	const { project, api } = useProject()
	const { list } = useCursorList({
		key: [project.id, 'jobs', 'imports'],
		load: (cursor) => api.contacts.listImports({ cursor }),
		liveMs: liveMs.normal,
	})
	if (list.rows?.length === 0) return null
	return (
		<Section title="Imports">
			<Table name="Imports" {...list} columns={columns} rowKey={({ id }) => id} empty={null} />
		</Section>
	)
}
