import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { Page, Stack } from '../parts/page.tsx'
import { ToContacts } from './contact-links.tsx'
import type { CsvFile } from './csv-file.ts'
import { ImportChoice } from './import-choice.tsx'
import { ImportMapping } from './import-mapping.tsx'
import { ImportProgress } from './import-progress.tsx'
import { Imports } from './imports.tsx'

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
			<Imports />
		</Stack>
	)
}
