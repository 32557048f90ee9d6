import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { countRows, type CsvFile, renamed } from './csv-file.ts'
import { fieldsQuery } from './fields-query.ts'
import { ImportColumns } from './import-columns.tsx'
import { faultOf, targetsFor } from './import-targets.ts'

interface Props {
	csv: CsvFile
	onOther: () => void
}

/** The first rows of a file, and what becomes of its columns. */
export function ImportMapping(props: Props) {
	const { data, isPending } = useQuery(fieldsQuery(useProject()))
	if (isPending) return <Waiting rows={6} />
	const known = (data?.fields ?? []).map(({ field }) => field.replace(/^data\./, ''))
	return <Mapping {...props} known={new Set(known)} />
}

function Mapping({ csv, onOther, known }: Props & { known: ReadonlySet<string> }) {
	const { project } = useProject()
	const { file, head } = csv
	const [targets, setTargets] = useState(() => targetsFor(head.names, known))
	const { begin, error, isBusy } = useImport(csv)
	const { data: lines } = useQuery({
		queryKey: [project.id, 'contacts', 'csv', file.name, file.size, file.lastModified],
		queryFn: () => countRows(file),
		staleTime: Infinity,
	})
	const fault = faultOf(targets)
	return (
		<Stack>
			<Row>
				<strong>{file.name}</strong>
				<Soft>{lines === undefined ? '' : `about ${formatCount(lines)} lines`}</Soft>
				<Button kind="quiet" onClick={onOther}>
					Choose another file
				</Button>
			</Row>
			<ImportColumns head={head} targets={targets} onChange={setTargets} />
			<ul>
				<li>New contacts are subscribed, unless the column for it says otherwise.</li>
				<li>Contacts that exist are updated. Empty cells change nothing.</li>
				<li>All other columns are stored as text, even numbers.</li>
				<li>If an address occurs twice, the later row wins. An import can be undone for 7 days.</li>
			</ul>
			<Fault error={error} />
			<Row>
				<Button
					kind="primary"
					disabled={fault !== undefined}
					isBusy={isBusy}
					onClick={() => begin(targets)}
				>
					Import
				</Button>
				{fault && <span role="status">{fault}</span>}
			</Row>
		</Stack>
	)
}

function useImport(csv: CsvFile) {
	const { project, api } = useProject()
	const navigate = useNavigate()
	const { mutate, error, isPending } = useMutation({
		mutationFn: (targets: Parameters<typeof renamed>[1]) =>
			api.contacts.import({ file: renamed(csv, targets) }),
		onSuccess: ({ jobId }) =>
			navigate({
				to: '/console/$projectId/contacts/import',
				params: { projectId: project.id },
				search: { job: jobId },
			}),
	})
	return { begin: mutate, error, isBusy: isPending }
}
