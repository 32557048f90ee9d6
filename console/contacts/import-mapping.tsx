import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { countRows, type CsvFile, renamed } from './csv-file.ts'
import { ImportColumns } from './import-columns.tsx'
import { faultOf, targetsFor } from './import-targets.ts'

/** The first rows of a file, and what becomes of its columns. */
export function ImportMapping({ csv, onOther }: { csv: CsvFile; onOther: () => void }) {
	const { project } = useProject()
	const { file, head } = csv
	const [targets, setTargets] = useState(() => targetsFor(head.names))
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
				<li>Columns of data become texts, numbers too.</li>
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
