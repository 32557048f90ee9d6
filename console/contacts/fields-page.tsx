import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { inWords } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { formatPercent } from '../parts/figures.tsx'
import { Page, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { ToContacts } from './contact-links.tsx'
import { FieldDialog } from './field-dialog.tsx'
import { fieldsQuery } from './fields-query.ts'

export const page = createLazyRoute('/console/$projectId/contacts/fields')({
	component: FieldsPage,
})

interface Field {
	field: string
	type: string
	coverage: number
}

const mostShown = 200

/** As the form of a contact names them. */
const kinds: Record<string, string> = {
	string: 'Text',
	boolean: 'Yes or no',
	array: 'List',
}

/** Every field of the data, with its uses and a way to delete it. */
function FieldsPage() {
	const [search, setSearch] = useState('')
	const [opened, setOpened] = useState<string>()
	const { data, error, refetch } = useQuery(fieldsQuery(useProject()))
	const wanted = search.toLowerCase()
	const fields = data?.fields.filter(({ field }) => field.startsWith('data.'))
	const found = fields?.filter(({ field }) => nameOf(field).toLowerCase().includes(wanted))
	const columns: Column<Field>[] = [
		{ name: 'Field', cell: ({ field }) => nameOf(field), width: '2fr' },
		{ name: 'Values', cell: ({ type }) => kinds[type] ?? inWords(type), width: '140px' },
		{
			name: 'Contacts with it',
			cell: ({ coverage }) => (coverage === 0 ? 'under 1%' : formatPercent(coverage)),
			width: '140px',
			isNumber: true,
		},
		{
			name: 'Uses',
			cell: ({ field }) => <Button onClick={() => setOpened(field)}>Uses</Button>,
			width: '100px',
		},
	]
	return (
		<Page title="Fields" back={<ToContacts />}>
			<Stack>
				<SearchBox name="Field" value={search} onChange={setSearch} />
				<Table
					name="Fields"
					rows={found?.slice(0, mostShown)}
					error={error}
					retry={() => void refetch()}
					columns={columns}
					rowKey={({ field }) => field}
					empty={
						fields?.length === 0 ? (
							<Empty title="No field yet">
								<p>Fields appear here as soon as a contact has data.</p>
							</Empty>
						) : (
							<Empty title="No field is called that" />
						)
					}
				/>
				{opened && (
					<FieldDialog field={opened} name={nameOf(opened)} onClose={() => setOpened(undefined)} />
				)}
			</Stack>
		</Page>
	)
}

const nameOf = (field: string) => field.slice('data.'.length)
