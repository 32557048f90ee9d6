import { useMutation } from '@tanstack/react-query'
import type { ImportJob, ImportResult } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Figures, formatCount } from '../parts/figures.tsx'
import { Section, Soft } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'

type Result = NonNullable<ImportJob['result']>

/** The results of a job, with the rows that could not be read. */
export function ImportResults({ job, result }: { job: ImportJob; result: Result }) {
	if (!('errors' in result))
		return (
			<Figures
				figures={[
					{ name: 'Removed', value: result.removed, about: 'Created by the import' },
					{ name: 'Restored', value: result.restored, about: 'Changed by the import' },
					{ name: 'Left alone', value: result.skipped, about: 'Changed since' },
				]}
			/>
		)
	return (
		<>
			<Figures
				figures={[
					{ name: 'Rows', value: result.totalRows },
					{ name: 'Created', value: result.createdCount },
					{ name: 'Updated', value: result.updatedCount },
					{
						name: 'Not imported',
						value: result.failureCount,
						...(result.failureCount > 0 && { tone: 'bad' as const }),
					},
				]}
			/>
			{result.errors.length > 0 && <Errors job={job} result={result} />}
		</>
	)
}

type RowError = ImportResult['errors'][number]

const columns: Column<RowError>[] = [
	{ name: 'Row', cell: ({ row }) => `Row ${formatCount(row)}`, width: '90px' },
	{ name: 'Address', cell: ({ email }) => email ?? '–', width: '1fr' },
	{ name: 'Reason', cell: ({ error }) => error, width: '1.5fr' },
]

const mostShown = 100

function Errors({ job, result }: { job: ImportJob; result: ImportResult }) {
	const { api } = useProject()
	const { mutate, error, isPending } = useMutation({ mutationFn: download })
	async function download() {
		const csv = await api.contacts.downloadImportErrors(job.id)
		const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }))
		const link = Object.assign(document.createElement('a'), {
			href: url,
			download: `errors-${job.id}.csv`,
		})
		link.click()
		URL.revokeObjectURL(url)
	}
	return (
		<Section
			title="Rows that were not imported"
			actions={
				<Button isBusy={isPending} onClick={() => mutate()}>
					Download all as CSV
				</Button>
			}
		>
			<Fault error={error} />
			<Table
				name="Rows that were not imported"
				rows={result.errors.slice(0, mostShown)}
				columns={columns}
				rowKey={({ row }) => String(row)}
				empty={null}
			/>
			{result.failureCount > mostShown && (
				<Soft>
					The first {mostShown} of {formatCount(result.failureCount)}. The file has all of them.
				</Soft>
			)}
		</Section>
	)
}
