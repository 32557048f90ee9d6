import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Page, Section, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'
import { ToContacts } from './contact-links.tsx'
import type { CsvFile } from './csv-file.ts'
import { ImportChoice } from './import-choice.tsx'
import { ImportMapping } from './import-mapping.tsx'
import { ImportProgress } from './import-progress.tsx'
import { recentImports } from './recent-imports.ts'

export const page = createLazyRoute('/console/$projectId/contacts/import')({
	component: ImportPage,
})
const route = getRouteApi('/console/$projectId/contacts/import')

function ImportPage() {
	const { job } = route.useSearch()
	return (
		<Page title="Import contacts" back={<ToContacts />}>
			{job ? <ImportProgress key={job} jobId={job} /> : <NewImport />}
		</Page>
	)
}

function NewImport() {
	const [chosen, setChosen] = useState<CsvFile>()
	if (chosen) return <ImportMapping csv={chosen} onOther={() => setChosen(undefined)} />
	return (
		<Stack>
			<ImportChoice onChoose={setChosen} />
			<Recent />
		</Stack>
	)
}

function Recent() {
	const { project } = useProject()
	const [imports] = useState(() => recentImports(project.id))
	if (imports.length === 0) return null
	return (
		<Section title="Recent imports in this browser">
			<ul>
				{imports.map(({ job, file, at }) => (
					<li key={job}>
						<Link
							to="/console/$projectId/contacts/import"
							params={{ projectId: project.id }}
							search={{ job }}
						>
							{file}
						</Link>{' '}
						<Time at={at} />
					</li>
				))}
			</ul>
		</Section>
	)
}
